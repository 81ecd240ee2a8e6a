//! Errors of JSON-RPC with the status of the HTTP response that carries them.

use plugin_api::ApiError;
use serde_json::{Value, json};

/// The member `error` of a response.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    pub code: i32,
    /// Of the HTTP response.
    pub http_status: u16,
    pub message: String,
    pub data: Option<Value>,
    /// The header of this name, of a response with the status 503.
    pub retry_after: Option<Box<str>>,
}

/// What 1.0 wants in `data` of the errors that A2A adds to JSON-RPC.
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const DOMAIN: &str = "a2a-protocol.org";

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident $code:literal $status:literal $($reason:literal)?;)*) => {$(
        $(#[$doc])*
        pub fn $name(message: impl Into<String>) -> Self {
            let data = None$(.or(Some(error_info($reason))))?;
            Self { code: $code, http_status: $status, message: message.into(), data, retry_after: None }
        }
    )*};
}

fn error_info(reason: &str) -> Value {
    json!([{ "@type": ERROR_INFO, "reason": reason, "domain": DOMAIN }])
}

impl RpcError {
    errors! {
        /// The body is no JSON.
        parse -32700 400;
        /// The body is JSON and no object.
        no_object -32600 400;
        /// The object is no request of JSON-RPC.
        invalid_request -32600 200;
        unknown_method -32601 200;
        invalid_params -32602 200;
        task_not_found -32001 200 "TASK_NOT_FOUND";
        task_not_cancelable -32002 200 "TASK_NOT_CANCELABLE";
        push_not_supported -32003 200 "PUSH_NOTIFICATION_NOT_SUPPORTED";
        unsupported_operation -32004 200 "UNSUPPORTED_OPERATION";
        content_type_not_supported -32005 200 "CONTENT_TYPE_NOT_SUPPORTED";
        no_extended_card -32007 200 "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
        version_not_supported -32009 200 "VERSION_NOT_SUPPORTED";
    }

    /// An error of the gateway's own, with its status: the agent is unknown, cannot be reached, or has too many calls.
    pub fn of(error: &impl ApiError) -> Self {
        let spec = error.spec();
        let data = json!({ "code": spec.code, "hint": spec.hint });
        let (message, retry_after) = (error.to_string(), error.header_value("retry-after").map(String::into_boxed_str));
        Self { code: -32000, http_status: spec.status, message, data: Some(data), retry_after }
    }

    pub fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(data), Value::Object(members)) = (&self.data, &mut error) {
            members.insert("data".to_owned(), data.clone());
        }
        error
    }
}
