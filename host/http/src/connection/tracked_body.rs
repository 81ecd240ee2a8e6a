//! The body of a running request's response. Rule: the request runs until this body is dropped, which is after its last byte was
//! passed on.

use super::connection_state::RequestGuard;
use crate::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Holds its request's guard.
pub(crate) struct TrackedBody {
    body: Body,
    _guard: Option<RequestGuard>,
}

impl TrackedBody {
    pub(super) fn new(body: Body, guard: Option<RequestGuard>) -> Self {
        Self { body, _guard: guard }
    }
}

impl http_body::Body for TrackedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
