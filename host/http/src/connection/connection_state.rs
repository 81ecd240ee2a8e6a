//! The state of one connection that its reader, its writer and its watchdog share, and the decision when it closes.
//! Rule: a request costs a few atomic stores and no timer; one timer per connection checks the state when it expires.
//! hyper's own header timeout is not used: it also counts the silence between two requests, and does not run before the
//! protocol is known.

use super::close_reason::{CloseReason, WatchdogVerdict};
use super::framing::Framing;
use super::head_error::HeadError;
use super::timeouts::Timeouts;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

const NOT_RUNNING: u64 = u64::MAX;

/// All times are milliseconds since the connection opened. On HTTP/1 one task writes and reads; on HTTP/2 requests end
/// on tasks of their own, which only count.
#[derive(Debug)]
pub(crate) struct ConnectionState {
    opened_at: Instant,
    requests: AtomicU64,
    idle_since_ms: AtomicU64,
    head_since_ms: AtomicU64,
    write_blocked_since_ms: AtomicU64,
    body_incomplete: AtomicBool,
    is_flushed: AtomicBool,
    head_error: parking_lot::Mutex<Option<(u64, HeadError)>>,
    complete_heads: AtomicU64,
    head_started: AtomicBool,
    head_timed_out: AtomicBool,
    head_ended: Notify,
}

impl ConnectionState {
    pub(crate) fn new() -> Self {
        Self {
            opened_at: Instant::now(),
            requests: AtomicU64::new(0),
            idle_since_ms: AtomicU64::new(0),
            // A client that connects and sends nothing counts as a slow head.
            head_since_ms: AtomicU64::new(0),
            write_blocked_since_ms: AtomicU64::new(NOT_RUNNING),
            body_incomplete: AtomicBool::new(false),
            is_flushed: AtomicBool::new(true),
            head_error: parking_lot::Mutex::new(None),
            complete_heads: AtomicU64::new(0),
            head_started: AtomicBool::new(false),
            head_timed_out: AtomicBool::new(false),
            head_ended: Notify::new(),
        }
    }

    /// The time for the first head begins now.
    pub(crate) fn await_first_head(&self) {
        self.head_since_ms.store(self.now_ms(), Relaxed);
    }

    /// Called after each read.
    pub(crate) fn update(&self, framing: &Framing) {
        self.body_incomplete.store(framing.in_body(), Relaxed);
        let complete_heads = framing.complete_heads();
        let head_completed = self.complete_heads.swap(complete_heads, Relaxed) != complete_heads;
        if self.head_started.swap(framing.in_head(), Relaxed) && !framing.in_head() {
            self.head_ended.notify_waiters();
        }
        if !framing.in_head() {
            if complete_heads > 0 {
                self.head_since_ms.store(NOT_RUNNING, Relaxed);
            }
        } else if head_completed || self.head_since_ms.load(Relaxed) == NOT_RUNNING {
            self.head_since_ms.store(self.now_ms(), Relaxed);
        }
        if head_completed && framing.head_error().is_some() {
            *self.head_error.lock() = framing.head_error();
        }
    }

    /// A part of a head has arrived, and the rest has not.
    pub(crate) fn head_started(&self) -> bool {
        self.head_started.load(Relaxed)
    }

    /// The reader waits no longer for the rest of the head.
    pub(crate) fn time_out_head(&self) {
        self.head_timed_out.store(true, Relaxed);
    }

    pub(crate) fn head_timed_out(&self) -> bool {
        self.head_timed_out.load(Relaxed)
    }

    /// Waits for the end of a head that has started.
    pub(crate) async fn wait_for_head_end(&self) {
        loop {
            let head_ended = self.head_ended.notified();
            if !self.head_started() {
                return;
            }
            head_ended.await;
        }
    }

    /// Nothing that was written waits in a buffer.
    pub(crate) fn is_flushed(&self) -> bool {
        self.is_flushed.load(Relaxed)
    }

    pub(crate) fn set_flushed(&self, is_flushed: bool) {
        self.is_flushed.store(is_flushed, Relaxed);
    }

    /// No request runs, and none is arriving.
    pub(crate) fn is_idle(&self) -> bool {
        let is_arriving = self.head_since_ms.load(Relaxed) != NOT_RUNNING || self.body_incomplete.load(Relaxed);
        self.requests.load(Relaxed) == 0 && !is_arriving
    }

    pub(crate) fn write_blocked(&self) {
        if self.write_blocked_since_ms.load(Relaxed) == NOT_RUNNING {
            self.write_blocked_since_ms.store(self.now_ms(), Relaxed);
        }
    }

    pub(crate) fn write_progressed(&self) {
        self.write_blocked_since_ms.store(NOT_RUNNING, Relaxed);
    }

    /// Why the head of the request with this number (counted from 0) was refused.
    pub(crate) fn head_error(&self, request: u64) -> Option<HeadError> {
        self.head_error.lock().filter(|(refused, _)| *refused == request).map(|(_, error)| error)
    }

    pub(crate) fn start_request(self: &Arc<Self>) -> RequestGuard {
        self.requests.fetch_add(1, Relaxed);
        RequestGuard { state: Arc::clone(self) }
    }

    pub(crate) fn verdict(&self, timeouts: Timeouts) -> WatchdogVerdict {
        let now_ms = self.now_ms();
        let (head_since_ms, idle_since_ms) = self.waiting_for_client_since_ms();
        let deadlines = [
            (head_since_ms.saturating_add(timeouts.head_ms), CloseReason::SlowHead),
            (self.write_blocked_since_ms.load(Relaxed).saturating_add(timeouts.idle_ms), CloseReason::SlowReader),
            (idle_since_ms.saturating_add(timeouts.idle_ms), CloseReason::Idle),
        ];
        // Nothing that starts after this check can expire before the shortest timeout has passed.
        let mut next_ms = now_ms + timeouts.head_ms.min(timeouts.idle_ms).max(1);
        for (deadline_ms, reason) in deadlines {
            if deadline_ms <= now_ms {
                return WatchdogVerdict::Close(reason);
            }
            next_ms = next_ms.min(deadline_ms);
        }
        WatchdogVerdict::CheckAgainAt(self.opened_at + Duration::from_millis(next_ms))
    }

    /// How long the gateway has waited for the client; `None` while a request runs.
    pub(crate) fn waiting_for_client_ms(&self) -> Option<u64> {
        let (head_since_ms, idle_since_ms) = self.waiting_for_client_since_ms();
        let since_ms = head_since_ms.min(idle_since_ms);
        (since_ms != NOT_RUNNING).then(|| self.now_ms().saturating_sub(since_ms))
    }

    /// Since when the gateway waits for the client, within a head and between two requests. Neither time runs during a
    /// request: hyper does not read then, so the rest of a next head may already be in the socket.
    fn waiting_for_client_since_ms(&self) -> (u64, u64) {
        let head_since_ms = self.head_since_ms.load(Relaxed);
        let idle_since_ms = self.idle_since_ms.load(Relaxed);
        match (self.requests.load(Relaxed), head_since_ms) {
            (0, NOT_RUNNING) => (NOT_RUNNING, idle_since_ms),
            (0, _) => (head_since_ms.max(idle_since_ms), NOT_RUNNING),
            (1.., _) => (NOT_RUNNING, NOT_RUNNING),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.opened_at.elapsed().as_millis()).unwrap_or(NOT_RUNNING - 1)
    }
}

/// Counts a request from its head to the last byte of its response.
#[derive(Debug)]
pub(crate) struct RequestGuard {
    state: Arc<ConnectionState>,
}

impl RequestGuard {
    /// The client has not sent the whole body. Unless it does, the connection cannot take another request.
    pub(crate) fn body_incomplete(&self) -> bool {
        self.state.body_incomplete.load(Relaxed)
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.state.idle_since_ms.store(self.state.now_ms(), Relaxed);
        self.state.requests.fetch_sub(1, Relaxed);
    }
}
