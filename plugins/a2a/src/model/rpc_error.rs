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

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident $code:literal $status:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name(message: impl Into<String>) -> Self {
            Self { code: $code, http_status: $status, message: message.into(), data: None, retry_after: None }
        }
    )*};
}

impl RpcError {
    errors! {
        /// The body is no JSON.
        parse -32700 400;
        /// The body is no request of JSON-RPC.
        invalid_request -32600 400;
        unknown_method -32601 200;
        invalid_params -32602 200;
        task_not_found -32001 200;
        task_not_cancelable -32002 200;
        push_not_supported -32003 200;
        unsupported_operation -32004 200;
        content_type_not_supported -32005 200;
        no_extended_card -32007 200;
        version_not_supported -32009 200;
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
