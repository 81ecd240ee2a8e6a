//! Responses of JSON-RPC. Rule: a result is written as the server wrote it, and an id as the client wrote it.

use crate::model::RpcError;
use plugin_api::{
    JsonSchema,
    extract::RouteDescription,
    response::{IntoResponse, NoContent, RawResponse, Response, WithHeader},
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a call leads to: a result as JSON.
pub type Outcome = Result<Arc<[u8]>, RpcError>;

/// A response of JSON-RPC 2.0, or the list of those to a batch
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes the bodies")]
pub enum RpcAnswer {
    One(Box<RpcAnswerItem>),
    Batch(Vec<RpcAnswerItem>),
}

/// The response to one call: a result or an error.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the bodies")]
pub struct RpcAnswerItem {
    /// `2.0`
    jsonrpc: String,
    /// That of the request; null where it has none.
    id: Value,
    /// What Ethereum's JSON-RPC says for the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// `code`, `message` and perhaps `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Map<String, Value>>,
}

pub enum RpcResponse {
    One(String, Outcome),
    /// With the ids.
    Batch(Vec<(String, Outcome)>),
    /// Notifications are not answered.
    Nothing,
}

impl RpcResponse {
    /// An error that is not that of a request.
    pub fn without_id(error: RpcError) -> Self {
        Self::One("null".to_owned(), Err(error))
    }
}

impl IntoResponse for RpcResponse {
    fn describe(describe: &mut RouteDescription<'_>) {
        NoContent::describe(describe);
    }

    fn into_response(self) -> Response {
        match self {
            Self::Nothing => NoContent.into_response(),
            Self::One(id, outcome) => {
                let mut body = Vec::new();
                write(&mut body, &id, &outcome);
                let (status, retry_after_s) =
                    outcome.err().map_or((200, 0), |error| (error.http_status, error.retry_after_s));
                let response = RawResponse { status, content_type: "application/json".into(), body: body.into() };
                if retry_after_s == 0 {
                    return response.into_response();
                }
                let value = retry_after_s.to_string().into();
                WithHeader { response, name: "retry-after".into(), value }.into_response()
            }
            Self::Batch(answers) => {
                let mut body = vec![b'['];
                for (position, (id, outcome)) in answers.iter().enumerate() {
                    if position > 0 {
                        body.push(b',');
                    }
                    write(&mut body, id, outcome);
                }
                body.push(b']');
                let content_type = "application/json".into();
                RawResponse { status: 200, content_type, body: body.into() }.into_response()
            }
        }
    }
}

fn write(body: &mut Vec<u8>, id: &str, outcome: &Outcome) {
    body.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    body.extend_from_slice(id.as_bytes());
    match outcome {
        Ok(result) => {
            body.extend_from_slice(b",\"result\":");
            body.extend_from_slice(result);
        }
        Err(error) => {
            body.extend_from_slice(b",\"error\":");
            body.extend_from_slice(error.to_json().to_string().as_bytes());
        }
    }
    body.push(b'}');
}
