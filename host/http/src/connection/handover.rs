//! How the response of an event stream gets from hyper's service to the connection, which sends it without hyper. Rule:
//! a response that is handed over is not returned to hyper, and no request after it is read until it has ended.

use super::tracked_body::TrackedBody;
use crate::body::RequestBody;
use gateway_activity::BypassBytes;
use http::header::CONNECTION;
use http::{Method, Request, Response, Version};
use http_body::Body as _;
use parking_lot::Mutex;
use std::sync::Arc;

/// The response that the service of a connection has handed over.
#[derive(Clone, Default)]
pub(super) struct HandoverSlot(Arc<Mutex<Option<Box<Handover>>>>);

pub(super) struct Handover {
    pub response: Response<TrackedBody>,
    /// The client may send another request when the stream has ended.
    pub keep_alive: bool,
}

impl HandoverSlot {
    pub(super) fn put(&self, handover: Handover) {
        *self.0.lock() = Some(Box::new(handover));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().is_none()
    }

    pub(super) fn take(&self) -> Option<Box<Handover>> {
        self.0.lock().take()
    }
}

/// What a request says about the response to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HandoverTerms {
    keep_alive: bool,
}

impl HandoverTerms {
    /// `None` when hyper has to send the response: it still has to read the request's body, or frames the response in
    /// another way.
    pub(super) fn of(request: &Request<RequestBody>) -> Option<Self> {
        let is_plain_get = request.version() == Version::HTTP_11 && request.method() == Method::GET;
        if !is_plain_get || !request.body().is_end_stream() {
            return None;
        }
        Some(Self { keep_alive: !asks_to_close(request) })
    }

    /// Whether the connection sends this response: an event stream.
    pub(super) fn take(response: &Response<TrackedBody>) -> bool {
        let is_event_stream = response.extensions().get::<BypassBytes>().is_some();
        is_event_stream && response.body().size_hint().exact().is_none()
    }

    pub(super) fn hand_over(self, response: Response<TrackedBody>) -> Handover {
        Handover { response, keep_alive: self.keep_alive }
    }
}

fn asks_to_close(request: &Request<RequestBody>) -> bool {
    let values = request.headers().get_all(CONNECTION).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case("close"))
}
