//! Reads a body while it arrives.
//!
//! The rule: no more of it is in memory than one chunk and what the connection has buffered, and its slots and connection are
//! free as soon as it ends, fails or is dropped.

use super::{
    destinations::DestinationSlot,
    error::{EgressError, WaitingFor},
    fetch_record::FetchRecord,
    pinned_client::PinnedBody,
    request::{BodyLimits, Overflow},
    sent_request::SentRequest,
    url_check::host_of,
};
use bytes::Bytes;
use futures_util::Stream;
use http_body::Body as _;
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, Sleep, sleep_until},
};

/// The chunks of a body, as received: content encodings are not decoded. An error is the last item; after it, or without one,
/// the stream ends. A body that breaks off ends with an error.
pub struct ResponseBody {
    /// `None` when it is over.
    open: Option<OpenBody>,
    is_truncated: bool,
    record: FetchRecord,
}

struct OpenBody {
    host: String,
    body: PinnedBody,
    limits: BodyLimits,
    bytes_left: u64,
    started: Instant,
    /// Since when the reader waits for the next chunk.
    waits_since: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
    _slot: Arc<OwnedSemaphorePermit>,
    _destination_slot: DestinationSlot,
}

#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    timeout_ms: u64,
    waiting_for: WaitingFor,
}

impl Deadline {
    fn new(since: Instant, timeout_ms: u64, waiting_for: WaitingFor) -> Self {
        Self { at: since + Duration::from_millis(timeout_ms), timeout_ms, waiting_for }
    }
}

impl ResponseBody {
    pub(super) fn new(sent: SentRequest, mut record: FetchRecord) -> Self {
        let content_length = sent.content_length();
        let SentRequest { url, response, limits, slot, destination_slot } = sent;
        if limits.overflow == Overflow::Truncate && limits.bytes_max == 0 {
            record.set_outcome("ok");
            return Self { open: None, is_truncated: content_length != Some(0), record };
        }
        let open = OpenBody {
            host: host_of(&url),
            body: response.into_body(),
            limits,
            bytes_left: limits.bytes_max,
            started: record.started(),
            waits_since: None,
            timer: None,
            _slot: slot,
            _destination_slot: destination_slot,
        };
        Self { open: Some(open), is_truncated: false, record }
    }

    /// Whether the body was longer than [`Overflow::Truncate`] lets pass; known at its end.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    fn close(&mut self, outcome: &'static str) {
        self.open = None;
        self.record.set_outcome(outcome);
    }
}

impl Stream for ResponseBody {
    type Item = Result<Bytes, EgressError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(open) = &mut self.open else { return Poll::Ready(None) };
        let next = ready!(open.poll_chunk(context));
        let (chunk, is_truncated) = match next.transpose().and_then(|chunk| open.count(chunk)) {
            Ok(counted) => counted,
            Err(error) => {
                self.close(error.code());
                return Poll::Ready(Some(Err(error)));
            }
        };
        if is_truncated || chunk.is_none() {
            self.is_truncated = is_truncated;
            self.close("ok");
        }
        Poll::Ready(chunk.map(Ok))
    }
}

impl OpenBody {
    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, EgressError>>> {
        // A server that always has more to send does not get more time than there is.
        if let Some(deadline) = self.total_deadline()
            && deadline.at <= Instant::now()
        {
            return Poll::Ready(Some(Err(self.timed_out(deadline))));
        }
        while let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            let Some(frame) = frame else { return Poll::Ready(None) };
            let frame = match frame {
                Ok(frame) => frame,
                Err(error) => {
                    let (host, source) = (self.host.clone(), Some(error.into()));
                    return Poll::Ready(Some(Err(EgressError::BrokenResponse { host, source })));
                }
            };
            if let Ok(data) = frame.into_data()
                && !data.is_empty()
            {
                self.waits_since = None;
                return Poll::Ready(Some(Ok(data)));
            }
        }
        self.poll_deadline(context).map(|error| Some(Err(error)))
    }

    /// Ready when the reader has waited for too long.
    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<EgressError> {
        let since = *self.waits_since.get_or_insert_with(Instant::now);
        let idle = self.limits.idle_ms.map(|idle_ms| Deadline::new(since, idle_ms, WaitingFor::Chunk));
        let deadlines = [idle, self.total_deadline()].into_iter().flatten();
        let Some(deadline) = deadlines.min_by_key(|deadline| deadline.at) else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline.at)));
        if timer.deadline() != deadline.at {
            timer.as_mut().reset(deadline.at);
        }
        ready!(timer.as_mut().poll(context));
        Poll::Ready(self.timed_out(deadline))
    }

    fn total_deadline(&self) -> Option<Deadline> {
        let total_ms = self.limits.total_ms?;
        Some(Deadline::new(self.started, total_ms, WaitingFor::Response))
    }

    fn timed_out(&self, deadline: Deadline) -> EgressError {
        let Deadline { timeout_ms, waiting_for, .. } = deadline;
        EgressError::Timeout { host: self.host.clone(), timeout_ms, waiting_for }
    }

    /// The part of the chunk that may pass, and whether the body is longer.
    fn count(&mut self, chunk: Option<Bytes>) -> Result<(Option<Bytes>, bool), EgressError> {
        let Some(chunk) = chunk else { return Ok((None, false)) };
        if let Some(bytes_left) = self.bytes_left.checked_sub(chunk.len() as u64) {
            self.bytes_left = bytes_left;
            return Ok((Some(chunk), false));
        }
        match self.limits.overflow {
            Overflow::Fail => {
                let (host, bytes_max) = (self.host.clone(), self.limits.bytes_max);
                Err(EgressError::TooLarge { host, part: "a body", bytes_max })
            }
            Overflow::Truncate => {
                // Less than the length of the chunk.
                let bytes_left = usize::try_from(self.bytes_left).unwrap_or_default();
                Ok(((bytes_left > 0).then(|| chunk.slice(..bytes_left)), true))
            }
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").field("is_over", &self.open.is_none()).finish_non_exhaustive()
    }
}
