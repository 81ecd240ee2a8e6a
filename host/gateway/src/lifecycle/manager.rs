//! Starts and stops plugins.
//!
//! The rules: a plugin that fails at any step is a report, not an outage; the route table changes in one step;
//! libraries stay mapped until the process ends, so that disabling only unroutes and enabling again reuses what is
//! loaded.

use super::{
    Topics,
    own_thread::{drop_on_own_thread, run_on_own_thread},
    pending_starts::PendingStarts,
    registry::{InactiveReason, PluginRegistry},
};
use crate::{
    operators::Operators,
    routes::{RouteConflict, RouteTable},
};
use abi_stable::std_types::RResult;
use futures_util::future::BoxFuture;
use gateway_activity::{Render, Topic, TopicSettings};
use gateway_config::Config;
use gateway_indexer::IndexerContext;
use gateway_jobs::{InvalidJobs, JobFailure, JobRunner, JobSet};
use gateway_plugins::{
    ActivePlugin, CapabilityContext, ContainmentCause, ContainmentRequest, LoadOutcome, PluginFolder, PluginHandle,
    PluginReport, PluginState, TransactionContext, polls::UnwatchedFrame, queue_worker, render_topic, run_job,
};
use gateway_storage::Dialect;
use parking_lot::Mutex;
use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

/// A plugin is fenced when this many of its operations are paused at the same time.
const PAUSED_OPERATIONS_MAX: usize = 3;
/// How long the drain of a plugin that holds a thread takes at most, in each of its steps.
const HUNG_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

fn invalid_jobs(error: InvalidJobs) -> InactiveReason {
    InactiveReason::failed(format!("its jobs cannot be scheduled: {error}"))
}

fn no_jobs() -> TaskTracker {
    let tasks = TaskTracker::new();
    tasks.close();
    tasks
}

/// What a gateway is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    Serve,
    /// To find out whether it would serve on such a database: its plugins get no jobs, topics and indexes.
    DryRun(Dialect),
}

/// What starting and stopping plugins needs.
pub struct PluginManagerParts {
    pub config: Arc<Config>,
    pub capabilities: Arc<CapabilityContext>,
    pub routes: Arc<RouteTable>,
    pub topics: Arc<Topics>,
    pub operators: Operators,
    pub jobs: JobRunner,
    pub indexer: IndexerContext,
    /// Where plugins that failed too often are reported.
    pub containment_requests: mpsc::UnboundedSender<ContainmentRequest>,
    pub mode: StartMode,
}

pub struct PluginManager {
    pub(super) parts: PluginManagerParts,
    pub(super) registry: Mutex<PluginRegistry>,
    /// Held while plugins are started or stopped, but not while a constructor takes long.
    pub(super) changes: tokio::sync::Mutex<()>,
    pub(super) pending_starts: PendingStarts,
    /// For work in the background.
    pub(super) me: Weak<Self>,
    /// Where plugins are looked for while the gateway runs.
    pub(super) folder: Mutex<Option<PluginFolder>>,
}

impl PluginManager {
    pub fn new(parts: PluginManagerParts) -> Arc<Self> {
        let manager = Arc::new_cyclic(|me| Self {
            parts,
            registry: Mutex::default(),
            changes: tokio::sync::Mutex::default(),
            pending_starts: PendingStarts::default(),
            me: me.clone(),
            folder: Mutex::default(),
        });
        manager.register_presences();
        manager
    }

    pub(super) fn config(&self) -> &Config {
        &self.parts.config
    }

    pub(super) fn transactions(&self) -> &TransactionContext {
        &self.parts.capabilities.transactions
    }

    /// Starts every enabled plugin, each after those that it requires. One that takes long goes on alone: see [`Self::settled`].
    pub fn start(&self, loaded: Vec<LoadOutcome>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            {
                let _transition = self.changes.lock().await;
                for outcome in loaded {
                    self.registry.lock().add_outcome(outcome);
                }
                let wanted = self.registry.lock().wanted(self.config());
                self.start_all(&wanted, self.config()).await;
            }
            self.settled_soon().await;
            self.note_gone().await;
        })
    }

    /// Starts and stops plugins to match a new configuration and what is in the folder now. Those that start get their section
    /// of it.
    pub fn reconcile<'a>(&'a self, config: &'a Config) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _transition = self.changes.lock().await;
            self.registry.lock().latest_config = Some(Arc::new(config.clone()));
            self.look_at_folder(config, None).await;
            let wanted = self.registry.lock().wanted(config);
            let order = self.registry.lock().stop_order(&wanted);
            for name in order {
                let reason = self.registry.lock().off_reason(&name);
                self.stop_plugin(&name, PluginState::Disabled, reason).await;
            }
            self.registry.lock().forget_failures(&wanted);
            self.start_all(&wanted, config).await;
        })
    }

    /// Fences a plugin that failed too often, or pauses the operation that did, unless the database was away: then no plugin could
    /// do its work, and all of them must still serve when it comes back.
    pub async fn contain(&self, request: &ContainmentRequest) {
        let database = &self.transactions().database;
        let window = Duration::from_secs(self.config().plugins.fence_window_s);
        let is_excusable = request.cause != ContainmentCause::HeldThread;
        if is_excusable && (database.probe().await.is_err() || database.was_unavailable_within(window)) {
            let (plugin, reason) = (&request.plugin, &request.reason);
            tracing::warn!(plugin, reason, "not fenced: faults do not count while the database is away");
            let serving = self.transactions().active.list();
            serving
                .iter()
                .filter(|running| running.name() == plugin)
                .for_each(|running| running.handle.forget_faults());
            return;
        }
        let _transition = self.changes.lock().await;
        // An operator may have restarted the plugin while the request waited.
        if self.registry.lock().is_running(request) {
            self.pause_or_fence(request).await;
        }
    }

    async fn pause_or_fence(&self, request: &ContainmentRequest) {
        let ContainmentRequest { plugin, cause, reason, .. } = request;
        let ContainmentCause::FaultyOperation(operation) = cause else {
            return self.stop_plugin(plugin, PluginState::Fenced, reason).await;
        };
        let serving = self.transactions().active.list();
        let Some(running) = serving.iter().find(|running| running.name() == plugin) else { return };
        let paused = running.handle.pause(operation, reason);
        if paused.len() >= PAUSED_OPERATIONS_MAX {
            let names: Vec<&str> = paused.iter().map(|paused| paused.operation.as_str()).collect();
            let reason = format!("{} were paused; {operation}: {reason}", names.join(", "));
            self.stop_plugin(plugin, PluginState::Fenced, &reason).await;
        }
    }

    /// Stops all plugins, in the reverse order of their start.
    pub fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _transition = self.changes.lock().await;
            self.registry.lock().is_closed = true;
            self.pending_starts.give_up();
            let order = self.registry.lock().stop_order(&BTreeSet::new());
            for name in order {
                self.stop_plugin(&name, PluginState::Stopped, "the gateway stops").await;
            }
        })
    }

    /// One report per plugin.
    pub fn reports(&self) -> Vec<PluginReport> {
        let plugins = self.registry.lock();
        plugins.entries.keys().filter_map(|name| plugins.report(name)).collect()
    }

    /// Those of `required` that do not serve, with the reason.
    pub(crate) fn not_serving(&self, required: &[String]) -> Vec<String> {
        let registry = self.registry.lock();
        let missing = required.iter().filter_map(|name| match registry.report(name) {
            Some(report) if report.serves => None,
            Some(report) => Some(format!("{name} is {}: {}", report.state, report.reason)),
            None => Some(format!("{name} is not in the folder of the plugins")),
        });
        missing.collect()
    }

    /// The plugins that are switched on, with those that are there and could not be loaded.
    pub fn wanted(&self) -> Vec<String> {
        self.registry.lock().wanted(self.config()).into_iter().collect()
    }

    /// Topics come before routes, so that the first request for a stream finds its topic.
    pub(super) async fn mount_all(&self, plugin: &Arc<ActivePlugin>) -> Result<TaskTracker, InactiveReason> {
        if let StartMode::DryRun(_) = self.parts.mode {
            JobSet::new(plugin.name(), &plugin.manifest.jobs).map_err(invalid_jobs)?;
            return self.mount(plugin).await.map(|()| no_jobs());
        }
        self.open_topics(plugin)?;
        self.mount(plugin).await?;
        for chain in gateway_indexer::chains_of(&plugin.manifest) {
            plugin.handle.tasks.spawn(gateway_indexer::run(self.parts.indexer.clone(), plugin.clone(), chain));
        }
        let tasks = self.start_jobs(plugin).map_err(invalid_jobs)?;
        self.start_queues(plugin, &tasks).await?;
        Ok(tasks)
    }

    /// Builds the new route table first: a conflict refuses the newcomer and leaves the old table. Plugins are sorted by name, so
    /// that collected contributions do not depend on the order of starts.
    async fn mount(&self, newcomer: &Arc<ActivePlugin>) -> Result<(), InactiveReason> {
        let mut serving: Vec<Arc<ActivePlugin>> = self.transactions().active.list().to_vec();
        let fenced = take(&mut serving, newcomer.name());
        serving.push(newcomer.clone());
        serving.sort_by(|one, other| one.name().cmp(other.name()));
        self.publish(serving).map_err(|conflict| InactiveReason::failed(conflict.to_string()))?;
        if let Some(fenced) = fenced {
            self.drop_plugin(fenced).await;
        }
        Ok(())
    }

    pub(super) async fn unmount(&self, name: &str) {
        let mut serving: Vec<Arc<ActivePlugin>> = self.transactions().active.list().to_vec();
        let Some(leaving) = take(&mut serving, name) else { return };
        if let Err(conflict) = self.publish(serving) {
            tracing::error!(%conflict, "a route table with fewer routes cannot conflict");
        }
        self.drop_plugin(leaving).await;
    }

    async fn drop_plugin(&self, plugin: Arc<ActivePlugin>) {
        let handle = plugin.handle.clone();
        drop_on_own_thread(&handle, self.drain_limit(&handle), plugin).await;
    }

    fn publish(&self, serving: Vec<Arc<ActivePlugin>>) -> Result<(), RouteConflict> {
        self.parts.routes.rebuild(&serving)?;
        self.transactions().active.replace(serving);
        Ok(())
    }

    fn open_topics(&self, plugin: &Arc<ActivePlugin>) -> Result<(), InactiveReason> {
        for (index, name) in (0u32..).zip(&plugin.manifest.topics) {
            let settings = TopicSettings {
                ring_events: self.config().activity.ring_events,
                heartbeat: Duration::from_secs(self.config().activity.heartbeat_s),
            };
            let (log, stop) = (self.transactions().activity.clone(), plugin.handle.stop.clone());
            let topic = Topic::new(name.clone(), log, renderer(plugin.clone(), index), settings, stop);
            if !self.parts.topics.insert(topic.clone()) {
                return Err(InactiveReason::failed(format!("the stream {name} is another plugin's")));
            }
            plugin.handle.tasks.spawn(topic.run());
        }
        Ok(())
    }

    fn start_jobs(&self, plugin: &Arc<ActivePlugin>) -> Result<TaskTracker, InvalidJobs> {
        let set = JobSet::new(plugin.name(), &plugin.manifest.jobs)?;
        let owner = plugin.clone();
        let run = move |job: u32| -> BoxFuture<'static, Result<(), JobFailure>> {
            let plugin = owner.clone();
            Box::pin(async move { run_job(&plugin, job).await })
        };
        Ok(self.parts.jobs.start(set, Arc::new(run), &plugin.handle.stop))
    }

    async fn start_queues(&self, plugin: &Arc<ActivePlugin>, tasks: &TaskTracker) -> Result<(), InactiveReason> {
        for (index, _) in (0..).zip(&plugin.manifest.queues) {
            let worker = queue_worker(plugin, index, self.transactions(), self.drain_limit(&plugin.handle)).await;
            tasks.spawn(worker.map_err(InactiveReason::failed)?.run());
        }
        Ok(())
    }

    /// Refuses new requests, lets those in flight finish or time out, ends jobs and streams, then calls the plugin's `stop`.
    pub(super) async fn stop_plugin(&self, name: &str, state: PluginState, reason: &str) {
        let draining = self.registry.lock().begin_drain(name, reason);
        if let Some((running, jobs)) = draining {
            if state == PluginState::Fenced {
                running.handle.set_fenced();
            }
            self.drain(&running, jobs, reason).await;
        }
        // The routes of a fenced plugin stay and respond 503: it is enabled.
        if state != PluginState::Fenced {
            self.unmount(name).await;
        }
        self.registry.lock().note(name, InactiveReason { state, reason: reason.to_owned() });
        tracing::info!(plugin = name, %state, "stopped");
    }

    async fn drain(&self, running: &Arc<ActivePlugin>, jobs: Option<TaskTracker>, reason: &str) {
        let name = running.name();
        tracing::info!(plugin = name, reason, "draining");
        running.close();
        running.handle.stop.cancel();
        let limit = self.drain_limit(&running.handle);
        if !running.drained(limit).await {
            tracing::warn!(plugin = name, inside = running.in_flight(), "still busy after the drain limit");
        }
        if let Some(jobs) = jobs
            && tokio::time::timeout(limit, jobs.wait()).await.is_err()
        {
            tracing::warn!(plugin = name, "jobs did not end within the drain limit");
        }
        running.handle.tasks.close();
        if tokio::time::timeout(limit, running.handle.tasks.wait()).await.is_err() {
            tracing::warn!(plugin = name, "background tasks did not end within the drain limit");
        }
        stop_object(running, limit).await;
        self.parts.topics.remove_stopped(running);
    }

    /// How long each step of the plugin's end may take. What holds a thread does not end, and nothing else of the plugin is polled
    /// any more.
    pub(super) fn drain_limit(&self, handle: &PluginHandle) -> Duration {
        let limit = Duration::from_millis(self.config().http.drain_timeout_ms);
        if handle.gate.is_closed() { limit.min(HUNG_DRAIN_TIMEOUT) } else { limit }
    }

    /// Undoes a start that failed half way.
    pub(super) async fn abandon(&self, plugin: Arc<ActivePlugin>) {
        plugin.close();
        plugin.handle.stop.cancel();
        self.parts.topics.remove_stopped(&plugin);
        self.unmount(plugin.name()).await;
        self.drop_plugin(plugin).await;
    }
}

fn take(plugins: &mut Vec<Arc<ActivePlugin>>, name: &str) -> Option<Arc<ActivePlugin>> {
    let index = plugins.iter().position(|plugin| plugin.name() == name)?;
    Some(plugins.remove(index))
}

async fn stop_object(running: &Arc<ActivePlugin>, limit: Duration) {
    let (stopped, runtime) = (running.clone(), tokio::runtime::Handle::current());
    let stop = move || {
        let _frame = UnwatchedFrame::enter(stopped.operations.stop);
        runtime.block_on(stopped.object.stop())
    };
    if let Some(RResult::RErr(fault)) = run_on_own_thread(&running.handle, "stop", limit, stop).await {
        running.handle.fault("stop", &fault);
    }
}

fn renderer(plugin: Arc<ActivePlugin>, topic: u32) -> Render {
    Arc::new(move |page| {
        let plugin = plugin.clone();
        Box::pin(async move { render_topic(&plugin, topic, page).await.ok_or_else(|| "the plugin failed".to_owned()) })
    })
}
