//! What the parts of one connection know of its life, and when it has to end. Rule: a request costs a few atomic stores and
//! no timer; one timer per connection looks at them when it rings. hyper's own header timeout is not used: it also counts
//! the silence between two requests, and does not run while the protocol is not yet known.

use super::framing::Framing;
use super::violation::Violation;
use gateway_config::HttpConfig;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

const NOT_RUNNING: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    SlowHead,
    SlowReader,
    Idle,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    LookAgainAt(Instant),
    End(Cut),
}

#[derive(Clone, Copy, Debug)]
pub struct Patience {
    header_ms: u64,
    idle_ms: u64,
}

impl Patience {
    pub fn new(settings: &HttpConfig) -> Self {
        Self { header_ms: settings.header_read_timeout_ms, idle_ms: settings.idle_timeout_ms }
    }
}

/// All times are milliseconds since the connection began. One task writes and reads on HTTP/1; on HTTP/2 requests end on
/// tasks of their own, which only count.
#[derive(Debug)]
pub struct Vitals {
    born: Instant,
    requests: AtomicU64,
    idle_since_ms: AtomicU64,
    head_since_ms: AtomicU64,
    write_blocked_since_ms: AtomicU64,
    body_is_owed: AtomicBool,
    violation: parking_lot::Mutex<Option<(u64, Violation)>>,
    heads: AtomicU64,
    head_has_begun: AtomicBool,
    head_is_given_up: AtomicBool,
    head_has_ended: Notify,
}

impl Vitals {
    pub fn new() -> Self {
        Self {
            born: Instant::now(),
            requests: AtomicU64::new(0),
            idle_since_ms: AtomicU64::new(0),
            // A client that connects and stays silent is a slow head.
            head_since_ms: AtomicU64::new(0),
            write_blocked_since_ms: AtomicU64::new(NOT_RUNNING),
            body_is_owed: AtomicBool::new(false),
            violation: parking_lot::Mutex::new(None),
            heads: AtomicU64::new(0),
            head_has_begun: AtomicBool::new(false),
            head_is_given_up: AtomicBool::new(false),
            head_has_ended: Notify::new(),
        }
    }

    /// After each read.
    pub fn observe(&self, framing: &Framing) {
        self.body_is_owed.store(framing.in_body(), Relaxed);
        let heads = framing.heads();
        let finished_one = self.heads.swap(heads, Relaxed) != heads;
        if self.head_has_begun.swap(framing.in_head(), Relaxed) && !framing.in_head() {
            self.head_has_ended.notify_waiters();
        }
        if !framing.in_head() {
            if heads > 0 {
                self.head_since_ms.store(NOT_RUNNING, Relaxed);
            }
        } else if finished_one || self.head_since_ms.load(Relaxed) == NOT_RUNNING {
            self.head_since_ms.store(self.now_ms(), Relaxed);
        }
        if finished_one && framing.violation().is_some() {
            *self.violation.lock() = framing.violation();
        }
    }

    /// Part of a head is there, and its rest is not.
    pub fn head_has_begun(&self) -> bool {
        self.head_has_begun.load(Relaxed)
    }

    /// The rest of the head is no longer waited for.
    pub fn give_up_head(&self) {
        self.head_is_given_up.store(true, Relaxed);
    }

    pub fn head_is_given_up(&self) -> bool {
        self.head_is_given_up.load(Relaxed)
    }

    /// Waits for the end of a head that has begun.
    pub async fn between_heads(&self) {
        loop {
            let ended = self.head_has_ended.notified();
            if !self.head_has_begun() {
                return;
            }
            ended.await;
        }
    }

    pub fn write_blocked(&self) {
        if self.write_blocked_since_ms.load(Relaxed) == NOT_RUNNING {
            self.write_blocked_since_ms.store(self.now_ms(), Relaxed);
        }
    }

    pub fn write_moved(&self) {
        self.write_blocked_since_ms.store(NOT_RUNNING, Relaxed);
    }

    /// The request under this number (from 0) broke the rules of framing.
    pub fn violation_of(&self, request: u64) -> Option<Violation> {
        self.violation.lock().filter(|(broken, _)| *broken == request).map(|(_, violation)| violation)
    }

    pub fn begin_request(self: &Arc<Self>) -> RunningRequest {
        self.requests.fetch_add(1, Relaxed);
        RunningRequest { vitals: Arc::clone(self) }
    }

    pub fn verdict(&self, patience: Patience) -> Verdict {
        let now_ms = self.now_ms();
        let (head_since, idle_since) = self.client_quiet_since_ms();
        let ends = [
            (head_since.saturating_add(patience.header_ms), Cut::SlowHead),
            (self.write_blocked_since_ms.load(Relaxed).saturating_add(patience.idle_ms), Cut::SlowReader),
            (idle_since.saturating_add(patience.idle_ms), Cut::Idle),
        ];
        // What begins after this look cannot be over before the shortest patience has passed.
        let mut next_ms = now_ms + patience.header_ms.min(patience.idle_ms).max(1);
        for (end_ms, cut) in ends {
            if end_ms <= now_ms {
                return Verdict::End(cut);
            }
            next_ms = next_ms.min(end_ms);
        }
        Verdict::LookAgainAt(self.born + Duration::from_millis(next_ms))
    }

    /// Since when the client has been the one to act, within a head or between two requests. While a request is at work
    /// neither runs: hyper reads no further then, so that the rest of a next head may long be there.
    fn client_quiet_since_ms(&self) -> (u64, u64) {
        let head_since_ms = self.head_since_ms.load(Relaxed);
        let idle_since_ms = self.idle_since_ms.load(Relaxed);
        match (self.requests.load(Relaxed), head_since_ms) {
            (0, NOT_RUNNING) => (NOT_RUNNING, idle_since_ms),
            (0, _) => (head_since_ms.max(idle_since_ms), NOT_RUNNING),
            (1.., _) => (NOT_RUNNING, NOT_RUNNING),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(NOT_RUNNING - 1)
    }
}

/// From the head of a request to the last byte of its answer.
#[derive(Debug)]
pub struct RunningRequest {
    vitals: Arc<Vitals>,
}

impl RunningRequest {
    /// The client has not sent the whole body; the connection cannot be used again unless it does.
    pub fn owes_body(&self) -> bool {
        self.vitals.body_is_owed.load(Relaxed)
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.vitals.idle_since_ms.store(self.vitals.now_ms(), Relaxed);
        self.vitals.requests.fetch_sub(1, Relaxed);
    }
}
