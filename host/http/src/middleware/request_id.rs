//! `x-request-id`: on every response, so that a caller can name a request that is in the log. Rule: a caller's own id
//! is used only if it can neither forge a log line nor make a header too long.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use std::ops::ControlFlow;
use std::sync::Arc;
use uuid::{Builder, NoContext, Timestamp, Uuid};

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const LENGTH_MAX: usize = 64;

/// Request extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

impl RequestId {
    pub(crate) fn generate() -> Self {
        // Not `Uuid::now_v7`: it reads random bytes from the kernel each time, which costs more than the whole stack.
        let (seconds, nanos) = Timestamp::now(NoContext).to_unix();
        let millis = seconds * 1000 + u64::from(nanos / 1_000_000);
        let id = Builder::from_unix_timestamp_millis(millis, &rand::random()).into_uuid();
        Self(Arc::from(&*id.hyphenated().encode_lower(&mut Uuid::encode_buffer())))
    }

    fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(X_REQUEST_ID)?.to_str().ok()?;
        let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let is_valid = (1..=LENGTH_MAX).contains(&text.len()) && text.bytes().all(is_safe);
        is_valid.then(|| Self(Arc::from(text)))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct SetRequestId;

impl Middleware for SetRequestId {
    type State = RequestId;

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, RequestId> {
        let id = RequestId::from_headers(request.headers()).unwrap_or_else(RequestId::generate);
        request.extensions_mut().insert(id.clone());
        ControlFlow::Continue(id)
    }

    fn on_response(&self, id: RequestId, response: &mut Response<Body>) {
        if let Ok(value) = HeaderValue::from_str(&id.0) {
            response.headers_mut().insert(X_REQUEST_ID, value);
        }
    }
}
