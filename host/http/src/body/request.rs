//! The body of a request. Rule: every reader sets a size limit, and no client takes longer than the body timeout.

use super::response::Body;
use crate::problem::response_from;
use bytes::{Bytes, BytesMut};
use http::Response;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use plugin_api::response::Problem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// Memory that is allocated for an announced length before the bytes have arrived.
const PREALLOCATED_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the request body is larger than {max_bytes} bytes")]
    TooLarge { max_bytes: usize },
    #[error("the request body did not arrive within {limit_ms} ms")]
    TimedOut { limit_ms: u128 },
    #[error("the request body ended early or is not well formed")]
    Malformed(#[source] hyper::Error),
}

impl BodyError {
    fn problem(&self) -> Problem {
        let (status, code, hint) = match self {
            Self::TooLarge { .. } => (413, "too_large", "send less, or split it over several requests"),
            Self::TimedOut { .. } => (408, "body_timeout", "send the whole body at once, then repeat the request"),
            Self::Malformed(_) => (400, "bad_body", "check Content-Length or the chunked encoding"),
        };
        Problem::new(status, code, self.to_string()).hint(hint)
    }

    pub fn into_response(self) -> Response<Body> {
        response_from(&self.problem())
    }
}

pub struct RequestBody {
    source: Source,
}

enum Source {
    /// Known bytes: tests, and requests that the gateway makes to itself.
    Full(Bytes),
    Incoming {
        incoming: Incoming,
        timeout: Duration,
        deadline: Option<Pin<Box<Sleep>>>,
    },
}

impl RequestBody {
    pub(crate) fn from_hyper(incoming: Incoming, timeout: Duration) -> Self {
        Self { source: Source::Incoming { incoming, timeout, deadline: None } }
    }

    /// Sets the size limit. A longer body is refused by its `Content-Length` before a byte is read, so that a client that
    /// waits for `100 Continue` never sends it.
    pub fn limited(self, max_bytes: usize) -> Result<LimitedBody, BodyError> {
        if self.announced_bytes() > max_bytes {
            return Err(BodyError::TooLarge { max_bytes });
        }
        Ok(LimitedBody { body: self, max_bytes, received_bytes: 0 })
    }

    /// Reads the whole body, at most `max_bytes`.
    pub async fn read_limited(self, max_bytes: usize) -> Result<Bytes, BodyError> {
        let announced = self.announced_bytes();
        let mut limited = self.limited(max_bytes)?;
        let Some(first) = limited.next_part().await? else { return Ok(Bytes::new()) };
        if limited.body.is_end_stream() {
            return Ok(first);
        }
        let mut collected = BytesMut::with_capacity(announced.min(PREALLOCATED_BYTES_MAX).max(first.len()));
        collected.extend_from_slice(&first);
        while let Some(part) = limited.next_part().await? {
            collected.extend_from_slice(&part);
        }
        Ok(collected.freeze())
    }

    fn announced_bytes(&self) -> usize {
        usize::try_from(self.size_hint().lower()).unwrap_or(usize::MAX)
    }

    /// The next bytes; trailers are skipped.
    async fn next_data(&mut self) -> Result<Option<Bytes>, BodyError> {
        while let Some(frame) = self.frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

/// A request body that is read in parts, while it arrives.
pub struct LimitedBody {
    body: RequestBody,
    max_bytes: usize,
    received_bytes: usize,
}

impl LimitedBody {
    /// The next bytes; `None` at the end.
    pub async fn next_part(&mut self) -> Result<Option<Bytes>, BodyError> {
        let Some(part) = self.body.next_data().await? else { return Ok(None) };
        self.received_bytes += part.len();
        if self.received_bytes > self.max_bytes {
            return Err(BodyError::TooLarge { max_bytes: self.max_bytes });
        }
        Ok(Some(part))
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.get_mut().source {
            Source::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Source::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Source::Incoming { incoming, timeout, deadline } => {
                if let Poll::Ready(frame) = Pin::new(incoming).poll_frame(cx) {
                    return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Malformed)));
                }
                // Most bodies arrive with their head and need no timer; the first wait creates it.
                let deadline = deadline.get_or_insert_with(|| Box::pin(sleep(*timeout)));
                ready!(deadline.as_mut().poll(cx));
                Poll::Ready(Some(Err(BodyError::TimedOut { limit_ms: timeout.as_millis() })))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Full(bytes) => bytes.is_empty(),
            Source::Incoming { incoming, .. } => incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Incoming { incoming, .. } => incoming.size_hint(),
        }
    }
}

impl From<Bytes> for RequestBody {
    fn from(bytes: Bytes) -> Self {
        Self { source: Source::Full(bytes) }
    }
}
