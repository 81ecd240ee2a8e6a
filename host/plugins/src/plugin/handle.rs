//! The host's handle on one start of a plugin, shared by its capabilities and requests: name, stop signal, faults.

use super::breaker::{FaultLimit, FaultVerdict, OperationBreaker, PausedOperation, Probe};
use crate::{
    bounds::{BLOCKING_CALLS_MAX, LOG_LINE_CHARS_MAX},
    polls::{BACKGROUND_TASK, HungPollObserver, OperationNumber, PollGate, THREAD_LIMIT, register},
    transaction::WriteAdmission,
};
use gateway_clock::Clock;
use gateway_telemetry::request_id;
use parking_lot::{Mutex, RwLock};
use plugin_api::abi::{Fault, FaultKind};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// One thing that the plugin does: its number, which threads publish, and its circuit breaker.
#[derive(Clone)]
pub struct PluginOperation {
    pub number: OperationNumber,
    pub breaker: Arc<OperationBreaker>,
}

impl PluginOperation {
    /// As faults name it.
    pub fn name(&self) -> &str {
        self.breaker.operation()
    }
}

/// Why a plugin must be fenced, or one of its operations paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainmentCause {
    /// The operation failed too often, which does not count while the database is away.
    FaultyOperation(String),
    /// Its code did not give a thread back.
    HeldThread,
}

/// A plugin that must be fenced, or paused in part.
#[derive(Debug)]
pub struct ContainmentRequest {
    pub plugin: String,
    /// Which start of the plugin failed: a later one begins without faults.
    pub generation: u64,
    pub cause: ContainmentCause,
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
    /// Bounds how much of its code runs at a time.
    pub gate: Arc<PollGate>,
    /// Bounds how many of its blocking calls run at a time.
    pub blocking: Arc<Semaphore>,
    pub writes: Arc<WriteAdmission>,
    /// By the names that faults give them.
    operations: RwLock<BTreeMap<String, PluginOperation>>,
    is_fenced: AtomicBool,
    /// When, in Unix milliseconds, and what.
    last_fault: Mutex<Option<(i64, String)>>,
    /// While the process uses much memory: what of the plugin was in progress.
    memory_note: Mutex<Option<String>>,
    fault_count: AtomicU64,
    limit: FaultLimit,
    clock: Clock,
    containment_requests: mpsc::UnboundedSender<ContainmentRequest>,
}

impl PluginHandle {
    pub fn new(
        name: &str,
        limit: FaultLimit,
        clock: Clock,
        containment_requests: mpsc::UnboundedSender<ContainmentRequest>,
    ) -> Arc<Self> {
        static STARTS: AtomicU64 = AtomicU64::new(0);
        let handle = Arc::new(Self {
            name: name.into(),
            generation: STARTS.fetch_add(1, Ordering::Relaxed),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            gate: Arc::default(),
            blocking: Arc::new(Semaphore::new(BLOCKING_CALLS_MAX)),
            writes: Arc::default(),
            operations: RwLock::default(),
            is_fenced: AtomicBool::new(false),
            last_fault: Mutex::default(),
            memory_note: Mutex::default(),
            fault_count: AtomicU64::new(0),
            limit,
            clock,
            containment_requests,
        });
        handle.operation(BACKGROUND_TASK);
        handle
    }

    /// Records a failure; too many of them within the window ask for a pause of their operation, once.
    pub fn fault(&self, operation: &str, fault: &Fault) {
        let (kind, message, location) = (kind_name(fault.kind), cut(&fault.message), fault.location.as_str());
        let location = (!location.is_empty()).then_some(location);
        let at = location.map(|location| format!(" at {location}")).unwrap_or_default();
        let description = format!("{kind} in {operation}: {message}{at}");
        let counted = self.record(operation, kind, message, location, &description);
        self.count_in(&counted, &description);
    }

    /// Something that the plugin gave back is not what it must be.
    pub fn error(&self, operation: &str, message: String) {
        let message = message.into();
        self.fault(operation, &Fault { kind: FaultKind::Error, message, location: Default::default() });
    }

    /// A contribution whose JSON does not fit the type of its extension point.
    pub(crate) fn invalid_contribution(&self, point: &str, reason: &str) {
        self.error(&format!("point {point}"), invalid_contribution(reason));
    }

    /// A call that exceeded its time limit counts as a fault.
    pub fn timed_out(&self, operation: &str, timeout: Duration) {
        let description = format!("timeout in {operation} after {timeout:?}");
        let counted = self.record(operation, "timeout", &format!("timed out after {timeout:?}"), None, &description);
        self.count_in(&counted, &description);
    }

    /// The one place where a fault is logged and counted. Returns what it counts against: its operation, or background tasks when that
    /// cannot be paused, whose names have no bound.
    fn record(
        &self,
        operation: &str,
        kind: &'static str,
        message: &str,
        location: Option<&str>,
        description: &str,
    ) -> Arc<OperationBreaker> {
        let (plugin, request_id) = (&*self.name, request_id());
        tracing::error!(plugin, request_id = request_id.as_deref(), operation, kind, location, "{message}");
        let counted = self.counted_as(operation);
        let labels =
            [("plugin", plugin.to_owned()), ("operation", counted.operation().to_owned()), ("kind", kind.to_owned())];
        metrics::counter!("gateway_plugin_faults_total", &labels).increment(1);
        self.fault_count.fetch_add(1, Ordering::Relaxed);
        *self.last_fault.lock() = Some((self.clock.now_ms(), description.to_owned()));
        counted
    }

    fn counted_as(&self, operation: &str) -> Arc<OperationBreaker> {
        let operations = self.operations.read();
        let known = operations.get(operation).or_else(|| operations.get(BACKGROUND_TASK));
        known.map_or_else(|| OperationBreaker::new(BACKGROUND_TASK), |known| known.breaker.clone())
    }

    /// Forgets the faults counted towards a pause.
    pub fn forget_faults(&self) {
        self.operations.read().values().for_each(|operation| operation.breaker.forget_faults());
    }

    /// What the plugin does under this name; several entries of its manifest may share it.
    pub fn operation(self: &Arc<Self>, name: &str) -> PluginOperation {
        let new = || PluginOperation { number: self.operation_number(name), breaker: OperationBreaker::new(name) };
        self.operations.write().entry(name.to_owned()).or_insert_with(new).clone()
    }

    /// Pauses an operation, and returns those that are paused now.
    pub fn pause(&self, operation: &str, reason: &str) -> Vec<PausedOperation> {
        let known = self.operations.read().get(operation).cloned();
        if let Some(known) = known {
            let paused = known.breaker.pause(self.clock.now_ms(), reason);
            self.log_pause(&paused);
        }
        self.paused_operations()
    }

    /// Ends all pauses at once, by the operator's word.
    pub fn resume_operations(&self) -> usize {
        let resumed = self.operations.read().values().filter(|operation| operation.breaker.reset()).count();
        self.report_paused();
        resumed
    }

    pub fn paused_operations(&self) -> Vec<PausedOperation> {
        // A pause of tasks that is over must not count, even when no task asked since.
        self.admits_tasks();
        self.operations.read().values().filter_map(|operation| operation.breaker.paused()).collect()
    }

    /// Whether a call of the operation may run now; `Some` probe when it decides about the operation: [`Self::end_probe`].
    pub fn admit(&self, operation: &PluginOperation) -> Result<Option<Probe>, PausedOperation> {
        operation.breaker.admit(|| self.clock.now_ms())
    }

    /// Whether background tasks may begin. Their pause ends with its time: a task may run for as long as the plugin, so none of
    /// them can be the one that decides.
    pub(crate) fn admits_tasks(&self) -> bool {
        let tasks = self.operations.read().get(BACKGROUND_TASK).cloned();
        let Some(tasks) = tasks else { return true };
        match self.admit(&tasks) {
            Ok(probe) => {
                self.end_probe(&tasks, probe);
                true
            }
            Err(_paused) => false,
        }
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The call that decides about a paused operation has ended: without a fault, it is back.
    pub(crate) fn end_probe(&self, operation: &PluginOperation, probe: Option<Probe>) {
        if probe.is_some_and(|probe| probe.end(self.clock.now_ms())) {
            tracing::info!(
                plugin = &*self.name,
                operation = operation.breaker.operation(),
                "works again: no longer paused"
            );
            self.report_paused();
        }
    }

    fn log_pause(&self, paused: &PausedOperation) {
        let PausedOperation { operation, pauses, reason, .. } = paused;
        let seconds = paused.retry_after_s(self.clock.now_ms());
        tracing::warn!(plugin = &*self.name, operation, seconds, pauses, reason, "paused");
        self.report_paused();
    }

    fn report_paused(&self) {
        let count = u32::try_from(self.paused_operations().len()).unwrap_or(u32::MAX);
        metrics::gauge!("gateway_plugin_operations_paused", "plugin" => self.name.to_string()).set(count);
    }

    /// Whether callers must be told that the plugin failed, rather than that it is switched off.
    pub fn is_fenced(&self) -> bool {
        self.is_fenced.load(Ordering::Relaxed)
    }

    pub fn set_fenced(&self) {
        self.is_fenced.store(true, Ordering::Relaxed);
    }

    pub fn fault_count(&self) -> u64 {
        self.fault_count.load(Ordering::Relaxed)
    }

    pub fn last_fault(&self) -> Option<(i64, String)> {
        self.last_fault.lock().clone()
    }

    pub fn memory_note(&self) -> Option<String> {
        self.memory_note.lock().clone()
    }

    pub fn set_memory_note(&self, note: Option<String>) {
        *self.memory_note.lock() = note;
    }

    /// The number of an operation, which need not be one that can be paused, for [`crate::polls`].
    pub fn operation_number(self: &Arc<Self>, name: &str) -> OperationNumber {
        let observer: Weak<Self> = Arc::downgrade(self);
        register(&self.name, name, observer)
    }

    fn request_containment(&self, cause: ContainmentCause, reason: String) {
        let (plugin, generation) = (self.name.to_string(), self.generation);
        // The receiver is gone when the gateway stops.
        let _ = self.containment_requests.send(ContainmentRequest { plugin, generation, cause, reason });
    }

    fn count_in(&self, breaker: &OperationBreaker, description: &str) {
        match breaker.record_fault(self.limit, self.clock.now_ms(), description) {
            FaultVerdict::Counted => {}
            FaultVerdict::Pause { reason } => {
                self.request_containment(ContainmentCause::FaultyOperation(breaker.operation().to_owned()), reason);
            }
            FaultVerdict::PausedAgain => {
                if let Some(paused) = breaker.paused() {
                    self.log_pause(&paused);
                }
            }
        }
    }
}

/// The watchdog calls it: no more code of the plugin is polled from now on, whatever becomes of the fence.
impl HungPollObserver for PluginHandle {
    fn poll_hangs(&self, operation: &str) {
        let reason = format!("{operation} has held a thread for more than {THREAD_LIMIT:?}");
        self.record(operation, "held_thread", "holds a thread and does not give it back: fenced", None, &reason);
        if !self.gate.is_closed() {
            self.gate.close();
            self.request_containment(ContainmentCause::HeldThread, reason);
        }
    }
}

/// What is wrong with a contribution of another shape.
pub(crate) fn invalid_contribution(reason: &str) -> String {
    format!("a contribution has another shape: {reason}")
}

/// The text of a plugin, no longer than a line may be.
pub(crate) fn cut(message: &str) -> &str {
    message.char_indices().nth(LOG_LINE_CHARS_MAX).map_or(message, |(end, _)| &message[..end])
}

fn kind_name(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Error => "error",
        FaultKind::Panic => "panic",
        FaultKind::Config => "config",
        FaultKind::Source => "source",
    }
}
