//! The methods of all dialects, served or not.

use super::Dialect;

/// What a method asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Send(Dialect),
    GetTask(Dialect),
    CancelTask,
    /// Push notifications, which the card says are not served.
    Push,
    /// Known to A2A and not served: streams, lists, an extended card.
    Unsupported,
    /// The older name of the extended card has an error of its own.
    ExtendedCard,
}

impl Method {
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "tasks/send" => Self::Send(Dialect::V01),
            "message/send" => Self::Send(Dialect::V03),
            "SendMessage" => Self::Send(Dialect::V1),
            // 0.1 and 0.3 share these names.
            "tasks/get" => Self::GetTask(Dialect::V03),
            "GetTask" => Self::GetTask(Dialect::V1),
            "tasks/cancel" | "CancelTask" => Self::CancelTask,
            "tasks/pushNotification/set"
            | "tasks/pushNotification/get"
            | "tasks/pushNotificationConfig/set"
            | "tasks/pushNotificationConfig/get"
            | "tasks/pushNotificationConfig/list"
            | "tasks/pushNotificationConfig/delete"
            | "CreateTaskPushNotificationConfig"
            | "GetTaskPushNotificationConfig"
            | "ListTaskPushNotificationConfigs"
            | "DeleteTaskPushNotificationConfig" => Self::Push,
            "tasks/sendSubscribe"
            | "tasks/resubscribe"
            | "tasks/list"
            | "message/stream"
            | "SendStreamingMessage"
            | "SubscribeToTask"
            | "ListTasks"
            | "GetExtendedAgentCard" => Self::Unsupported,
            "agent/getAuthenticatedExtendedCard" | "agent/authenticatedExtendedCard" => Self::ExtendedCard,
            _ => return None,
        })
    }
}
