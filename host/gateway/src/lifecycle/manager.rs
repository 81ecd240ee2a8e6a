//! Starts and stops plugins.
//!
//! The rules: a plugin that fails at any step is a report, not an outage; the route table changes in one step;
//! libraries stay mapped until the process ends, so that disabling only unroutes and enabling again reuses what is
//! loaded.

use super::{
    Topics,
    clashes::losers,
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
    ActivePlugin, Capabilities, FaultLimit, FenceCause, FenceRequest, HostContext, LoadedPlugin, PluginHandle,
    PluginReport, PluginState,
    crash_record::{self, StartPhase},
    job, missing_consent,
    polls::{has_spare_threads, threads_lost},
    render,
};
use gateway_storage::{Schema, Scope};
use parking_lot::Mutex;
use plugin_api::abi::{FaultKind, FfiBytes, PluginBox};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
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
pub enum Purpose {
    Serve,
    /// To find out whether it would serve: its plugins get no jobs, topics and indexes.
    Trial,
}

/// What starting and stopping plugins needs.
pub struct PluginManagerParts {
    pub config: Arc<Config>,
    pub host: Arc<HostContext>,
    pub routes: Arc<RouteTable>,
    pub topics: Arc<Topics>,
    pub operators: Operators,
    pub jobs: JobRunner,
    pub indexer: IndexerContext,
    /// Where plugins that failed too often are reported.
    pub fence_requests: mpsc::UnboundedSender<FenceRequest>,
    pub purpose: Purpose,
}

pub struct PluginManager {
    pub(super) parts: PluginManagerParts,
    pub(super) registry: Mutex<PluginRegistry>,
    /// Held while plugins are started or stopped.
    pub(super) changes: tokio::sync::Mutex<()>,
}

impl PluginManager {
    pub fn new(parts: PluginManagerParts) -> Self {
        Self { parts, registry: Mutex::default(), changes: tokio::sync::Mutex::default() }
    }

    pub(super) fn config(&self) -> &Config {
        &self.parts.config
    }

    pub(super) fn host(&self) -> &Arc<HostContext> {
        &self.parts.host
    }

    /// Starts every enabled plugin, each after those that it requires.
    pub fn start(&self, loaded: Vec<Result<LoadedPlugin, Box<PluginReport>>>) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let _transition = self.changes.lock().await;
            for outcome in loaded {
                match outcome {
                    Ok(loaded) => self.registry.lock().add(loaded),
                    Err(report) => self.registry.lock().add_refused(*report),
                }
            }
            let wanted = self.registry.lock().wanted(self.config());
            self.start_all(&wanted, self.config()).await;
        })
    }

    /// Starts and stops plugins to match a new configuration. Those that start get their section of it.
    pub fn reconcile<'a>(&'a self, config: &'a Config) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let _transition = self.changes.lock().await;
            self.registry.lock().latest_config = Some(Arc::new(config.clone()));
            let wanted = self.registry.lock().wanted(config);
            let leaving = self.registry.lock().leaving(&wanted);
            for name in leaving {
                let reason = self.registry.lock().off_reason(&name);
                self.stop_plugin(&name, PluginState::Disabled, reason).await;
            }
            self.registry.lock().forget_failures(&wanted);
            self.start_all(&wanted, config).await;
        })
    }

    /// Fences a plugin that failed too often, or pauses the operation that did, unless the database was away: then no plugin could
    /// do its work, and all of them must still serve when it comes back.
    pub async fn fence(&self, request: &FenceRequest) {
        let database = &self.host().database;
        let window = Duration::from_secs(self.config().plugins.fence_window_s);
        let is_excusable = request.cause != FenceCause::HeldThread;
        if is_excusable && (database.probe().await.is_err() || database.was_unavailable_within(window)) {
            let (plugin, reason) = (&request.plugin, &request.reason);
            tracing::warn!(plugin, reason, "not fenced: faults do not count while the database is away");
            let serving = self.host().active.list();
            serving.iter().filter(|running| running.name() == plugin).for_each(|running| running.handle.pardon());
            return;
        }
        let _transition = self.changes.lock().await;
        // An operator may have restarted the plugin while the request waited.
        if self.registry.lock().lives(request) {
            self.fence_or_pause(request).await;
        }
    }

    async fn fence_or_pause(&self, request: &FenceRequest) {
        let FenceRequest { plugin, cause, reason, .. } = request;
        let FenceCause::Operation(operation) = cause else {
            return self.stop_plugin(plugin, PluginState::Fenced, reason).await;
        };
        let serving = self.host().active.list();
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
            let leaving = self.registry.lock().leaving(&BTreeSet::new());
            for name in leaving {
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
    pub fn not_serving(&self, required: &[String]) -> Vec<String> {
        let registry = self.registry.lock();
        let missing = required.iter().filter_map(|name| match registry.report(name) {
            Some(report) if report.state == PluginState::Serving => None,
            Some(report) => Some(format!("{name} is {}: {}", report.state, report.reason)),
            None => Some(format!("{name} is not in the folder of the plugins")),
        });
        missing.collect()
    }

    /// The plugins that are switched on, with those that are there and could not be loaded.
    pub fn wanted(&self) -> Vec<String> {
        self.registry.lock().wanted(self.config()).into_iter().collect()
    }

    pub(super) async fn start_all(&self, wanted: &BTreeSet<String>, config: &Config) {
        self.resolve_clashes(wanted, config).await;
        let (order, stuck) = self.registry.lock().starting(wanted);
        for (name, reason) in stuck {
            self.registry.lock().note(&name, InactiveReason::failed(reason));
        }
        let lost = self.registry.lock().clashes.clone();
        for name in order {
            if let Some(reason) = lost.get(&name) {
                tracing::error!(plugin = name, "{reason}");
                self.registry.lock().note(&name, InactiveReason::failed(reason.as_str()));
                continue;
            }
            if let Err(inactive) = self.start_plugin(&name, config).await {
                tracing::error!(plugin = name, state = %inactive.state, "{}", inactive.reason);
                self.registry.lock().note(&name, inactive);
            }
        }
    }

    /// Finds who gets what several plugins claim. Without the database nobody came earlier, and nobody could be migrated either.
    async fn resolve_clashes(&self, wanted: &BTreeSet<String>, config: &Config) {
        let applied = self.host().database.migration_status(None).await.unwrap_or_default();
        let since_ms = |name: &str| {
            let own = applied.iter().filter(|migration| migration.plugin == name);
            own.map(|migration| migration.applied_at).min()
        };
        let mut registry = self.registry.lock();
        let claimants = registry.claimants(wanted, config, since_ms);
        registry.clashes = losers(&claimants);
    }

    async fn start_plugin(&self, name: &str, config: &Config) -> Result<(), InactiveReason> {
        let Some((loaded, views)) = self.registry.lock().prepare(name)? else { return Ok(()) };
        let settings = config.plugins.settings(name);
        if let Some(reason) = missing_consent(&loaded, &settings) {
            return Err(InactiveReason::failed(reason));
        }
        if loaded.manifest.grants.secrets {
            self.host().secrets.open().await.map_err(InactiveReason::failed)?;
        }
        for phase in [StartPhase::Constructor, StartPhase::Migration] {
            if let Some(reason) = crash_record::why_skipped(name, loaded.sha256(), phase) {
                return Err(InactiveReason::failed(reason));
            }
        }
        let lost = threads_lost(name);
        if lost > 0 && !has_spare_threads() {
            let reason =
                format!("its code holds {lost} threads of this process: restart the gateway to start it again");
            return Err(InactiveReason::failed(reason));
        }
        let handle = self.new_handle(name);
        self.registry.lock().begins(name, handle.clone());
        let usage = self.host().usage.plugin(name).database.clone();
        let scope = Scope::plugin(name, Arc::new(views)).with_usage(usage);
        let object = {
            let _mark = crash_record::start_mark(name, loaded.sha256(), StartPhase::Constructor);
            self.construct(&loaded, settings.config, &handle, &scope).await?
        };
        {
            let _mark = crash_record::start_mark(name, loaded.sha256(), StartPhase::Migration);
            self.migrate(&loaded, &scope).await?;
        }
        let running = ActivePlugin::new(handle, loaded.clone(), object, scope);
        let jobs = match self.mount_all(&running).await {
            Ok(jobs) => jobs,
            Err(inactive) => {
                self.abandon(&running);
                return Err(inactive);
            }
        };
        self.registry.lock().serves(name, running, jobs);
        crash_record::forgive(name);
        let (version, routes) = (&loaded.manifest.version, loaded.manifest.routes.len());
        tracing::info!(plugin = name, version, routes, "serving");
        Ok(())
    }

    /// Topics come before routes, so that the first request for a stream finds its topic.
    async fn mount_all(&self, plugin: &Arc<ActivePlugin>) -> Result<TaskTracker, InactiveReason> {
        if self.parts.purpose == Purpose::Trial {
            JobSet::new(plugin.name(), &plugin.manifest.jobs).map_err(invalid_jobs)?;
            return self.mount(plugin).map(|()| no_jobs());
        }
        self.open_topics(plugin)?;
        self.mount(plugin)?;
        if !plugin.manifest.subscriptions.is_empty() {
            plugin.handle.tasks.spawn(gateway_indexer::run(self.parts.indexer.clone(), plugin.clone()));
        }
        self.start_jobs(plugin).map_err(invalid_jobs)
    }

    fn new_handle(&self, name: &str) -> Arc<PluginHandle> {
        let plugins = &self.config().plugins;
        let faults = usize::try_from(plugins.fence_faults).unwrap_or(usize::MAX);
        let limit = FaultLimit { faults, window: Duration::from_secs(plugins.fence_window_s) };
        PluginHandle::new(name, limit, self.host().clock.clone(), self.parts.fence_requests.clone())
    }

    /// The constructor is synchronous code of the plugin: it runs on a blocking thread, with a time limit.
    async fn construct(
        &self,
        loaded: &Arc<LoadedPlugin>,
        settings: serde_json::Map<String, serde_json::Value>,
        handle: &Arc<PluginHandle>,
        scope: &Scope,
    ) -> Result<PluginBox, InactiveReason> {
        let config = serde_json::to_vec(&settings).map_err(|error| InactiveReason::failed(error.to_string()))?;
        let host = Capabilities {
            handle: handle.clone(),
            host: self.host().clone(),
            scope: scope.clone(),
            manifest: loaded.manifest.clone(),
        };
        let construct = loaded.module.construct();
        let work = tokio::task::spawn_blocking(move || construct(host.into_host_box(), FfiBytes::from(config)));
        let limit = Duration::from_millis(self.config().plugins.constructor_timeout_ms);
        match tokio::time::timeout(limit, work).await {
            Ok(Ok(RResult::ROk(object))) => Ok(object),
            Ok(Ok(RResult::RErr(fault))) if fault.kind == FaultKind::Config => Err(InactiveReason::failed(format!(
                "[plugins.{}] is not valid: {}",
                loaded.manifest.name, fault.message
            ))),
            Ok(Ok(RResult::RErr(fault))) => {
                handle.fault("constructor", &fault);
                Err(InactiveReason::failed(format!("the constructor failed: {} at {}", fault.message, fault.location)))
            }
            Ok(Err(error)) => Err(InactiveReason::failed(format!("the constructor ended badly: {error}"))),
            Err(_elapsed) => {
                handle.timed_out("constructor", limit);
                Err(InactiveReason::failed(format!("the constructor did not return within {limit:?}")))
            }
        }
    }

    async fn migrate(&self, loaded: &LoadedPlugin, scope: &Scope) -> Result<(), InactiveReason> {
        let manifest = &loaded.manifest;
        let outcome = {
            let schema = Schema { scope, views: &manifest.views, migrations: &manifest.migrations };
            self.host().database.migrate(&schema).await
        };
        outcome
            .map(drop)
            .map_err(|error| InactiveReason::failed(format!("its schema cannot be brought up to date: {error}")))
    }

    /// Builds the new route table first: a conflict refuses the newcomer and leaves the old table. Plugins are sorted by name, so
    /// that collected contributions do not depend on the order of starts.
    fn mount(&self, newcomer: &Arc<ActivePlugin>) -> Result<(), InactiveReason> {
        let mut serving: Vec<Arc<ActivePlugin>> = self.host().active.list().to_vec();
        serving.retain(|plugin| plugin.name() != newcomer.name());
        serving.push(newcomer.clone());
        serving.sort_by(|one, other| one.name().cmp(other.name()));
        self.publish(serving).map_err(|conflict| InactiveReason::failed(conflict.to_string()))
    }

    pub(super) fn unmount(&self, name: &str) {
        let mut serving: Vec<Arc<ActivePlugin>> = self.host().active.list().to_vec();
        serving.retain(|plugin| plugin.name() != name);
        if let Err(conflict) = self.publish(serving) {
            tracing::error!(%conflict, "a route table with fewer routes cannot clash");
        }
    }

    fn publish(&self, serving: Vec<Arc<ActivePlugin>>) -> Result<(), RouteConflict> {
        self.parts.routes.rebuild(&serving)?;
        self.host().active.replace(serving);
        Ok(())
    }

    fn open_topics(&self, plugin: &Arc<ActivePlugin>) -> Result<(), InactiveReason> {
        for (index, name) in (0u32..).zip(&plugin.manifest.topics) {
            let settings = TopicSettings {
                ring_events: self.config().activity.ring_events,
                heartbeat: Duration::from_secs(self.config().activity.heartbeat_s),
            };
            let (log, stop) = (self.host().activity.clone(), plugin.handle.stop.clone());
            let topic = Topic::new(name.clone(), log, renderer(plugin.clone(), index), settings, stop);
            if !self.parts.topics.insert(topic.clone()) {
                return Err(InactiveReason::failed(format!("the stream {name} is another plugin's")));
            }
            plugin.handle.tasks.spawn(topic.pump());
        }
        Ok(())
    }

    fn start_jobs(&self, plugin: &Arc<ActivePlugin>) -> Result<TaskTracker, InvalidJobs> {
        let set = JobSet::new(plugin.name(), &plugin.manifest.jobs)?;
        let visited = plugin.clone();
        let run = move |job: u32| -> futures_util::future::BoxFuture<'static, Result<(), JobFailure>> {
            let plugin = visited.clone();
            Box::pin(async move { job::run(&plugin, job).await })
        };
        Ok(self.parts.jobs.start(set, Arc::new(run), &plugin.handle.stop))
    }

    /// Refuses new requests, lets those in flight finish or time out, ends jobs and streams, then calls the plugin's `stop`.
    pub(super) async fn stop_plugin(&self, name: &str, state: PluginState, reason: &str) {
        let leaving = self.registry.lock().leaves(name, reason);
        if let Some((running, jobs)) = leaving {
            if state == PluginState::Fenced {
                running.handle.set_fenced();
            }
            self.drain(&running, jobs, reason).await;
        }
        // The routes of a fenced plugin stay and respond 503: it is enabled.
        if state != PluginState::Fenced {
            self.unmount(name);
        }
        self.registry.lock().note(name, InactiveReason { state, reason: reason.to_owned() });
        tracing::info!(plugin = name, %state, "stopped");
    }

    async fn drain(&self, running: &Arc<ActivePlugin>, jobs: Option<TaskTracker>, reason: &str) {
        let name = running.name();
        tracing::info!(plugin = name, reason, "draining");
        running.close();
        running.handle.stop.cancel();
        let limit = Duration::from_millis(self.config().http.drain_timeout_ms);
        // What holds a thread does not end, and nothing else of the plugin is polled any more.
        let limit = if running.handle.gate.is_closed() { limit.min(HUNG_DRAIN_TIMEOUT) } else { limit };
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

    /// Undoes a start that failed half way.
    fn abandon(&self, plugin: &ActivePlugin) {
        plugin.close();
        plugin.handle.stop.cancel();
        self.parts.topics.remove_stopped(plugin);
        self.unmount(plugin.name());
    }
}

/// `stop` may block: it runs on a blocking thread, with a time limit.
async fn stop_object(running: &Arc<ActivePlugin>, limit: Duration) {
    let (stopped, runtime) = (running.clone(), tokio::runtime::Handle::current());
    let work = tokio::task::spawn_blocking(move || runtime.block_on(stopped.object.stop()));
    match tokio::time::timeout(limit, work).await {
        Ok(Ok(RResult::ROk(()))) => {}
        Ok(Ok(RResult::RErr(fault))) => running.handle.fault("stop", &fault),
        Ok(Err(error)) => tracing::error!(plugin = running.name(), %error, "stopping ended badly"),
        Err(_elapsed) => running.handle.timed_out("stop", limit),
    }
}

fn renderer(plugin: Arc<ActivePlugin>, topic: u32) -> Render {
    Arc::new(move |page| {
        let plugin = plugin.clone();
        Box::pin(async move { render(&plugin, topic, page).await.ok_or_else(|| "the plugin failed".to_owned()) })
    })
}
