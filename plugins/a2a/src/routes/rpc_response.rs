//! Responses of JSON-RPC, and what ends a call without a result.

use crate::{error::A2aError, model::RpcError};
use plugin_api::{
    ApiError, HandlerError, HostError, JsonSchema,
    response::{IntoResponse, RawResponse, Response, WithHeader},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A response of JSON-RPC 2.0: a result or an error.
#[derive(Serialize, JsonSchema)]
pub struct RpcAnswer {
    /// `2.0`
    jsonrpc: &'static str,
    /// That of the request; null where it has none.
    id: Value,
    /// A task, in the dialect of the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    result: Option<Value>,
    /// `code`, `message` and perhaps `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    error: Option<Value>,
}

/// An error of JSON-RPC, or the gateway's own with `error`, `code` and `hint`
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes two kinds of bodies")]
pub struct RpcFailure(Map<String, Value>);

pub struct RpcResponse {
    pub id: Value,
    pub outcome: Result<Value, RpcError>,
}

/// For an error that does not say when it is over.
const RETRY_AFTER_S: &str = "5";

impl IntoResponse for RpcResponse {
    fn into_response(self) -> Response {
        let (status, result, error, retry_after) = match self.outcome {
            Ok(result) => (200, Some(result), None, None),
            Err(error) => (error.http_status, None, Some(error.to_json()), error.retry_after),
        };
        let answer = RpcAnswer { jsonrpc: "2.0", id: self.id, result, error };
        let body = serde_json::to_vec(&answer).unwrap_or_default().into();
        let response = RawResponse { status, content_type: "application/json".into(), body };
        if status == 503 {
            let value = retry_after.map_or_else(|| RETRY_AFTER_S.to_owned(), String::from);
            return WithHeader { response, name: "retry-after".into(), value: value.into() }.into_response();
        }
        response.into_response()
    }
}

/// Why there is no result: an error for the client, or a failure of the gateway.
pub enum CallError {
    Rpc(RpcError),
    Host(HostError),
}

impl From<RpcError> for CallError {
    fn from(error: RpcError) -> Self {
        Self::Rpc(error)
    }
}

impl From<HostError> for CallError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl From<A2aError> for CallError {
    fn from(error: A2aError) -> Self {
        Self::Rpc(RpcError::of(&error))
    }
}

impl<E: ApiError> From<HandlerError<E>> for CallError {
    fn from(error: HandlerError<E>) -> Self {
        match error {
            HandlerError::Caller(error) => Self::Rpc(RpcError::of(&error)),
            HandlerError::Problem(problem) => Self::Rpc(RpcError {
                code: -32000,
                http_status: problem.status,
                retry_after: problem.header_value("retry-after").map(String::into_boxed_str),
                message: problem.message,
                data: Some(json!({ "code": problem.code, "hint": problem.hint })),
            }),
            HandlerError::Host(error) => Self::Host(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::response::{ForwardError, Problem};

    fn retry_after(error: CallError) -> Option<String> {
        let CallError::Rpc(error) = error else { return None };
        let response = RpcResponse { id: Value::Null, outcome: Err(error) }.into_response();
        let headers = response.headers.iter().find(|header| header.0.as_str() == "retry-after");
        headers.map(|header| header.1.to_string())
    }

    #[test]
    fn a_busy_agent_says_when_to_come_again() {
        let busy = || A2aError::from(ForwardError::Busy { retry_after_s: 7 });
        assert_eq!(retry_after(busy().into()).as_deref(), Some("7"));
        assert_eq!(retry_after(HandlerError::Caller(busy()).into()).as_deref(), Some("7"));
        let problem = Problem::new(503, "disabled", "off").header("retry-after", "9");
        assert_eq!(retry_after(HandlerError::<A2aError>::Problem(problem).into()).as_deref(), Some("9"));
        assert_eq!(retry_after(A2aError::UnreadablePrice.into()).as_deref(), Some("5"));
        assert_eq!(retry_after(A2aError::from(ForwardError::Loop).into()), None);
    }
}
