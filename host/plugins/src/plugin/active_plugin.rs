//! A plugin that serves: its object, its routes, and the calls that are in flight in it.

use super::{
    handle::{PluginHandle, PluginOperation},
    owned_object::OwnedObject,
};
use crate::{
    calls::DeclaredOutputs,
    loading::LoadedPlugin,
    polls::{OperationNumber, PluginCall, PollGate},
};
use gateway_storage::Scope;
use plugin_api::manifest::Manifest;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

pub struct ActivePlugin {
    pub handle: Arc<PluginHandle>,
    pub manifest: Arc<Manifest>,
    pub object: OwnedObject,
    pub scope: Scope,
    pub loaded: Arc<LoadedPlugin>,
    pub operations: PluginOperations,
    pub(crate) outputs: DeclaredOutputs,
    is_closed: AtomicBool,
    in_flight: AtomicUsize,
    call_count: AtomicU64,
    /// Notified when the last call in flight ends.
    idle: Notify,
}

/// The operation of what an index calls and commits.
pub const CHAIN_EVENTS: &str = "chain events";

/// What the plugin does; lists are in the order of the manifest.
pub struct PluginOperations {
    routes: Vec<PluginOperation>,
    jobs: Vec<PluginOperation>,
    queues: Vec<PluginOperation>,
    contributions: Vec<PluginOperation>,
    services: Vec<PluginOperation>,
    topics: Vec<PluginOperation>,
    /// Without a breaker: the index goes on event by event, and waits where one fails.
    pub chain_events: OperationNumber,
    pub stop: OperationNumber,
}

impl PluginOperations {
    fn new(handle: &Arc<PluginHandle>, manifest: &Manifest) -> Self {
        let points = manifest.contributions.iter().map(|spec| format!("point {}", spec.point));
        let services = manifest.provides.iter().map(|spec| format!("service {}", spec.name));
        Self {
            routes: manifest.routes.iter().map(|route| handle.operation(&route.operation)).collect(),
            jobs: manifest.jobs.iter().map(|job| handle.operation(&format!("job {}", job.name))).collect(),
            queues: manifest.queues.iter().map(|queue| handle.operation(&format!("queue {}", queue.table))).collect(),
            contributions: points.map(|name| handle.operation(&name)).collect(),
            services: services.map(|name| handle.operation(&name)).collect(),
            topics: manifest.topics.iter().map(|topic| handle.operation(&format!("topic {topic}"))).collect(),
            chain_events: handle.operation_number(CHAIN_EVENTS),
            stop: handle.operation_number("stop"),
        }
    }

    pub fn route(&self, index: u32) -> Option<&PluginOperation> {
        self.routes.get(index as usize)
    }

    pub(crate) fn job(&self, index: u32) -> Option<&PluginOperation> {
        self.jobs.get(index as usize)
    }

    pub(crate) fn queue(&self, index: u32) -> Option<&PluginOperation> {
        self.queues.get(index as usize)
    }

    pub(crate) fn contribution(&self, index: u32) -> Option<&PluginOperation> {
        self.contributions.get(index as usize)
    }

    pub(crate) fn service(&self, index: u32) -> Option<&PluginOperation> {
        self.services.get(index as usize)
    }

    pub(crate) fn topic(&self, index: u32) -> Option<&PluginOperation> {
        self.topics.get(index as usize)
    }
}

/// A request, job or contribution in flight in a plugin; draining waits until it is dropped.
pub struct InFlightGuard(Arc<ActivePlugin>);

impl ActivePlugin {
    pub fn new(handle: Arc<PluginHandle>, loaded: Arc<LoadedPlugin>, object: OwnedObject, scope: Scope) -> Arc<Self> {
        let manifest = loaded.manifest.clone();
        let operations = PluginOperations::new(&handle, &manifest);
        let outputs = DeclaredOutputs::new(&manifest);
        Arc::new(Self {
            handle,
            manifest,
            object,
            scope,
            loaded,
            operations,
            outputs,
            is_closed: AtomicBool::new(false),
            in_flight: AtomicUsize::new(0),
            call_count: AtomicU64::new(0),
            idle: Notify::new(),
        })
    }

    pub fn name(&self) -> &str {
        &self.handle.name
    }

    /// A call of the object: polled when there is room for one more poll of this plugin.
    pub fn call<M, F>(&self, operation: OperationNumber, begin: M) -> PluginCall<M, F, &PollGate>
    where
        M: FnOnce() -> F,
        F: Future + Send + Unpin + 'static,
    {
        PluginCall::new(&*self.handle.gate, operation, begin)
    }

    /// Admits a call, unless the plugin is draining. It is counted before the check, so that no call slips past a drain.
    pub fn acquire(self: &Arc<Self>) -> Option<InFlightGuard> {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        self.call_count.fetch_add(1, Ordering::Relaxed);
        let guard = InFlightGuard(self.clone());
        (!self.is_closed.load(Ordering::Acquire)).then_some(guard)
    }

    /// Admits no more calls.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Waits until no call is in flight; `false` when the limit runs out first.
    pub async fn drained(&self, limit: Duration) -> bool {
        let drained = async {
            loop {
                let idle = self.idle.notified();
                if self.in_flight.load(Ordering::Acquire) == 0 {
                    return;
                }
                idle.await;
            }
        };
        tokio::time::timeout(limit, drained).await.is_ok()
    }

    /// Requests, jobs, contributions and frames so far.
    pub fn call_count(&self) -> u64 {
        self.call_count.load(Ordering::Relaxed)
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Acquire)
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}
