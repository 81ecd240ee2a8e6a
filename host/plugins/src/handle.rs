//! The host's handle on one start of a plugin, shared by its capabilities and requests: name, stop signal, faults.

use gateway_clock::Clock;
use gateway_telemetry::request_id;
use parking_lot::Mutex;
use plugin_api::abi::{Fault, FaultKind};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// A plugin that failed too often and must be fenced.
#[derive(Debug)]
pub struct FenceRequest {
    pub plugin: String,
    /// Which start of the plugin failed: a later one begins without faults.
    pub generation: u64,
    pub reason: String,
}

pub struct PluginHandle {
    pub name: Arc<str>,
    /// Counts the starts of plugins in this process.
    pub generation: u64,
    /// Cancelled when the plugin stops: jobs, background tasks and streams watch it.
    pub stop: CancellationToken,
    /// Background tasks of the plugin.
    pub tasks: TaskTracker,
    faults: Mutex<Faults>,
    fault_count: AtomicU64,
    limit: FaultLimit,
    clock: Clock,
    fence_requests: mpsc::UnboundedSender<FenceRequest>,
}

#[derive(Clone, Copy, Debug)]
pub struct FaultLimit {
    pub faults: usize,
    pub window: Duration,
}

#[derive(Default)]
struct Faults {
    recent: VecDeque<Instant>,
    /// When, in Unix milliseconds, and what.
    last: Option<(i64, String)>,
    is_fenced: bool,
}

impl PluginHandle {
    pub fn new(
        name: &str,
        limit: FaultLimit,
        clock: Clock,
        fence_requests: mpsc::UnboundedSender<FenceRequest>,
    ) -> Arc<Self> {
        static STARTS: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self {
            name: name.into(),
            generation: STARTS.fetch_add(1, Ordering::Relaxed),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            faults: Mutex::default(),
            fault_count: AtomicU64::new(0),
            limit,
            clock,
            fence_requests,
        })
    }

    /// Logs and counts a failure; too many of them within the window ask for the fence, once.
    pub fn fault(&self, place: &str, fault: &Fault) {
        let kind = kind_name(fault.kind);
        let (message, location) = (fault.message.as_str(), fault.location.as_str());
        tracing::error!(plugin = &*self.name, request_id = request_id().as_deref(), place, kind, location, "{message}");
        metrics::counter!("gateway_plugin_faults_total", "plugin" => self.name.to_string(), "kind" => kind)
            .increment(1);
        self.fault_count.fetch_add(1, Ordering::Relaxed);
        let at = if location.is_empty() { String::new() } else { format!(" at {location}") };
        self.count(format!("{kind} in {place}: {message}{at}"));
    }

    /// A contribution whose JSON does not fit the type of its extension point.
    pub fn invalid_contribution(&self, point: &str, error: &serde_json::Error) {
        let message = format!("a contribution has another shape: {error}").into();
        self.fault(&format!("point {point}"), &Fault { kind: FaultKind::Error, message, location: Default::default() });
    }

    /// A handler or job that exceeded its time limit counts as a fault.
    pub fn timed_out(&self, place: &str, timeout: Duration) {
        tracing::error!(plugin = &*self.name, request_id = request_id().as_deref(), place, ?timeout, "timed out");
        metrics::counter!("gateway_plugin_faults_total", "plugin" => self.name.to_string(), "kind" => "timeout")
            .increment(1);
        self.fault_count.fetch_add(1, Ordering::Relaxed);
        self.count(format!("timeout in {place} after {timeout:?}"));
    }

    /// Forgets the faults counted towards the fence.
    pub fn pardon(&self) {
        let mut faults = self.faults.lock();
        faults.recent.clear();
        faults.is_fenced = false;
    }

    pub fn fault_count(&self) -> u64 {
        self.fault_count.load(Ordering::Relaxed)
    }

    pub fn last_fault(&self) -> Option<(i64, String)> {
        self.faults.lock().last.clone()
    }

    fn count(&self, description: String) {
        let now = Instant::now();
        let mut faults = self.faults.lock();
        faults.recent.push_back(now);
        while faults.recent.front().is_some_and(|first| now.duration_since(*first) > self.limit.window) {
            faults.recent.pop_front();
        }
        if faults.recent.len() >= self.limit.faults && !faults.is_fenced {
            faults.is_fenced = true;
            let reason =
                format!("{} faults within {:?}; the last one: {description}", faults.recent.len(), self.limit.window);
            // The receiver is gone when the gateway stops.
            let _ = self.fence_requests.send(FenceRequest {
                plugin: self.name.to_string(),
                generation: self.generation,
                reason,
            });
        }
        faults.last = Some((self.clock.now_ms(), description));
    }
}

fn kind_name(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Error => "error",
        FaultKind::Panic => "panic",
        FaultKind::Config => "config",
    }
}
