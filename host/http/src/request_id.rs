//! `x-request-id`: on every answer, so that a caller and the log can speak of the same request. Rule: a caller's own id is
//! taken over only when it can neither forge a log line nor blow up a header.

use super::stage::Stage;
use crate::body::{Body, RequestBody};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use std::ops::ControlFlow;
use std::sync::Arc;
use uuid::{Builder, NoContext, Timestamp, Uuid};

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const LENGTH_MAX: usize = 64;

/// Request extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

impl RequestId {
    pub fn generate() -> Self {
        // Not `Uuid::now_v7`, which asks the kernel for randomness each time: more than the rest of the stack costs.
        let (seconds, nanos) = Timestamp::now(NoContext).to_unix();
        let millis = seconds * 1000 + u64::from(nanos / 1_000_000);
        let id = Builder::from_unix_timestamp_millis(millis, &rand::random()).into_uuid();
        Self(Arc::from(&*id.hyphenated().encode_lower(&mut Uuid::encode_buffer())))
    }

    fn accept(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(X_REQUEST_ID)?.to_str().ok()?;
        let sane = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let accepted = (1..=LENGTH_MAX).contains(&text.len()) && text.bytes().all(sane);
        accepted.then(|| Self(Arc::from(text)))
    }
}

#[derive(Clone, Copy)]
pub struct RequestIds;

impl Stage for RequestIds {
    type Note = RequestId;

    fn admit(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, RequestId> {
        let id = RequestId::accept(request.headers()).unwrap_or_else(RequestId::generate);
        request.extensions_mut().insert(id.clone());
        ControlFlow::Continue(id)
    }

    fn finish(&self, id: RequestId, response: &mut Response<Body>) {
        if let Ok(value) = HeaderValue::from_str(&id.0) {
            response.headers_mut().insert(X_REQUEST_ID, value);
        }
    }
}
