//! The member `error` of an answer, and the status of the HTTP response when it is the only answer.

use plugin_api::chain::RawCallError;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    /// Hexadecimal: what a contract reverted with.
    pub data: Option<String>,
    /// 200 unless a client has to know that it may repeat the request.
    pub http_status: u16,
    /// With 429 and 503.
    pub retry_after_s: u64,
}

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident $code:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name(message: impl Into<String>) -> Self {
            Self { code: $code, message: message.into(), data: None, http_status: 200, retry_after_s: 0 }
        }
    )*};
}

impl RpcError {
    errors! {
        /// The body is no JSON.
        parse -32700;
        /// The body is no request of JSON-RPC.
        invalid_request -32600;
        unknown_method -32601;
        invalid_params -32602;
        /// The transaction or call is refused, as servers say it.
        refused -32000;
        /// More than the plugin's configuration allows (EIP-1474).
        limit_exceeded -32005;
    }

    pub fn rate_limited(message: impl Into<String>, retry_after_s: u64) -> Self {
        Self { http_status: 429, retry_after_s, ..Self::limit_exceeded(message) }
    }

    pub fn busy(message: impl Into<String>) -> Self {
        Self { http_status: 503, retry_after_s: 1, ..Self::limit_exceeded(message) }
    }

    pub fn unavailable() -> Self {
        let message = "no server of the chain answers now: repeat the request later";
        Self { code: -32603, http_status: 503, retry_after_s: 5, ..Self::refused(message) }
    }

    pub fn timeout() -> Self {
        Self::refused("timeout: the servers of the chain did not answer in time")
    }

    pub fn too_large(bytes_max: u64) -> Self {
        Self::limit_exceeded(format!("the answer has more than {bytes_max} bytes: ask for less at a time"))
    }

    pub fn of_call(error: RawCallError, bytes_max: u64) -> Self {
        match error {
            RawCallError::Response { code, message, data } => Self { code, data, ..Self::refused(message) },
            RawCallError::TooLarge => Self::too_large(bytes_max),
            RawCallError::Timeout => Self::timeout(),
            RawCallError::Unavailable => Self::unavailable(),
            RawCallError::Busy => Self::busy("too many calls wait for the chain's servers: repeat the request"),
        }
    }

    pub fn to_json(&self) -> Value {
        match &self.data {
            Some(data) => json!({ "code": self.code, "message": self.message, "data": data }),
            None => json!({ "code": self.code, "message": self.message }),
        }
    }
}
