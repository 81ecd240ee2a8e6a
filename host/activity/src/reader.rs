//! A reader of a topic: a position and a filter.
//!
//! Two tasks move the position: the body of the response, until the reader has everything there is, and then the topic,
//! which writes new events straight into the socket on HTTP/1.1. The rule: a task moves the position only while it
//! holds the reader's lock.

use super::{
    chunk::chunk,
    chunk_cache::ChunkCache,
    frame::Filter,
    rendered_log::RenderedLog,
    ring::RingRead,
    sink::{BypassBytes, Sink, WriteOutcome},
};
use bytes::Bytes;
use parking_lot::Mutex;
use std::{
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    task::{Context, Poll, Waker},
};
use tokio_util::sync::CancellationToken;

/// A replay by id has no limit, because its client must not miss anything.
pub(crate) const REPLAY_BY_TIME_MAX: u32 = 500;

/// `retry` belongs to the block of the first event: alone, some clients would take it for an event without data.
const OPENING: &[u8] = b"retry: 5000\n: stream open\n";
fn opening(is_cut: bool) -> Bytes {
    if !is_cut {
        return Bytes::from_static(OPENING);
    }
    let comment =
        format!(": the newest {REPLAY_BY_TIME_MAX} events since then; a replay by id (sinceId) has no limit\n");
    [OPENING, comment.as_bytes()].concat().into()
}

const CLOSING: &[u8] = b": the stream ends here; resume after the last id\n\n";

pub(crate) struct Reader {
    filter: Filter,
    /// The connection, if it takes direct writes.
    sink: Option<Weak<dyn Sink>>,
    bypass_bytes: BypassBytes,
    state: Mutex<ReaderState>,
}

struct ReaderState {
    position: i64,
    phase: Phase,
    /// Set while the body waits and has sent everything up to the position.
    waiting_body: Option<Waker>,
    is_ping_due: bool,
}

#[derive(PartialEq, Eq)]
enum Phase {
    New {
        /// Whether the client misses older events that it asked for.
        is_cut: bool,
    },
    Open,
    Closed,
}

impl Reader {
    pub(crate) fn new(position: i64, is_cut: bool, filter: Filter, sink: Option<Weak<dyn Sink>>) -> Self {
        let state = ReaderState { position, phase: Phase::New { is_cut }, waiting_body: None, is_ping_due: false };
        Self { filter, sink, bypass_bytes: BypassBytes::default(), state: Mutex::new(state) }
    }

    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }

    pub(crate) fn position(&self) -> i64 {
        self.state.lock().position
    }

    pub(crate) fn bypass_bytes(&self) -> &BypassBytes {
        &self.bypass_bytes
    }

    /// Sends a page that was read from the database as the body's next bytes; None when it has no event for this
    /// reader.
    pub(crate) fn take_page(&self, bytes: Option<Bytes>, position: i64) -> Option<Poll<Option<Bytes>>> {
        self.state.lock().position = position;
        bytes.map(|bytes| self.send_through_task(bytes))
    }

    /// What the body does next; `None` when the ring does not reach back to the position.
    pub(crate) fn poll(
        &self,
        log: &RenderedLog,
        stop: &CancellationToken,
        cx: &mut Context<'_>,
    ) -> Option<Poll<Option<Bytes>>> {
        let mut state = self.state.lock();
        state.waiting_body = None;
        match state.phase {
            Phase::New { is_cut } => {
                state.phase = Phase::Open;
                return Some(self.send_through_task(opening(is_cut)));
            }
            Phase::Closed => return Some(Poll::Ready(None)),
            Phase::Open => {}
        }
        loop {
            if self.sink().is_some_and(|sink| sink.has_unsent()) {
                return Some(Poll::Pending);
            }
            let (bytes, position) = match log.read_ring(state.position, &self.filter) {
                RingRead::TooOld => return None,
                RingRead::Ready { bytes, position } => (bytes, position),
            };
            let Some(bytes) = bytes else {
                state.position = position;
                return Some(self.poll_idle(&mut state, stop, cx));
            };
            match self.sink().map(|sink| self.write_directly(&*sink, &chunk(&bytes))) {
                Some(WriteOutcome::Complete | WriteOutcome::Partial) => state.position = position,
                Some(WriteOutcome::Busy) | None => {
                    state.position = position;
                    return Some(self.send_through_task(bytes));
                }
            }
        }
    }

    /// What the body does when there are no new events. `stop` is checked while the lock is held: the topic wakes a
    /// reader that began to wait before it stopped.
    fn poll_idle(&self, state: &mut ReaderState, stop: &CancellationToken, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        if stop.is_cancelled() {
            state.phase = Phase::Closed;
            return self.send_through_task(Bytes::from_static(CLOSING));
        }
        if std::mem::take(&mut state.is_ping_due) {
            return self.send_through_task(ping_comment());
        }
        state.waiting_body = Some(cx.waker().clone());
        Poll::Pending
    }

    fn send_through_task(&self, bytes: Bytes) -> Poll<Option<Bytes>> {
        if let Some(sink) = self.sink() {
            sink.leave_to_task();
        }
        Poll::Ready(Some(bytes))
    }

    fn write_directly(&self, sink: &dyn Sink, chunk: &Bytes) -> WriteOutcome {
        let outcome = sink.send(chunk);
        if outcome != WriteOutcome::Busy {
            self.bypass_bytes.0.fetch_add(chunk.len() as u64, Relaxed);
        }
        outcome
    }

    fn sink(&self) -> Option<Arc<dyn Sink>> {
        self.sink.as_ref().and_then(Weak::upgrade)
    }

    /// Writes new events to the connection. A reader whose body is not waiting reads them itself.
    pub(crate) fn deliver(&self, log: &RenderedLog, chunks: &mut ChunkCache) {
        let mut state = self.state.lock();
        if state.waiting_body.is_none() {
            return;
        }
        let Some(sink) = self.sink() else { return state.wake_body() };
        loop {
            let Some((bytes, position)) = chunks.chunk_after(log, state.position, &self.filter) else {
                return state.wake_body();
            };
            let Some(bytes) = bytes else {
                state.position = position;
                return;
            };
            match self.write_directly(&*sink, &bytes) {
                WriteOutcome::Complete => state.position = position,
                WriteOutcome::Partial => {
                    state.position = position;
                    return state.wake_body();
                }
                WriteOutcome::Busy => return state.wake_body(),
            }
        }
    }

    /// Keeps proxies from closing a connection without events.
    pub(crate) fn ping(&self, ping: &Bytes) {
        let mut state = self.state.lock();
        if state.waiting_body.is_none() {
            return;
        }
        let outcome = self.sink().map_or(WriteOutcome::Busy, |sink| self.write_directly(&*sink, ping));
        if outcome != WriteOutcome::Complete {
            state.is_ping_due = outcome == WriteOutcome::Busy;
            state.wake_body();
        }
    }

    /// Makes the body look for new events, or for the end of the topic.
    pub(crate) fn wake_body(&self) {
        self.state.lock().wake_body();
    }
}

impl ReaderState {
    fn wake_body(&mut self) {
        if let Some(waker) = self.waiting_body.take() {
            waker.wake();
        }
    }
}

/// A comment of one line, which SSE clients ignore.
pub(crate) fn ping_comment() -> Bytes {
    format!(": ping {}\n", gateway_clock::Clock::System.now_s()).into()
}
