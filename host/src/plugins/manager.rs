//! The life of plugins: load → configure → order → migrate → mount → serve → drain → stopped (DESIGN §4).
//!
//! The rules: a plugin that fails at any step is a report, not an outage; the route table changes in one step; libraries
//! stay mapped for ever, so that disabling only unroutes and enabling again reuses what is loaded.

use super::{
    capabilities::Capabilities,
    discover::{DiscoverError, discover},
    inspect, job,
    life::{FaultLimit, FenceRequest, PluginLife},
    loaded::LoadedPlugin,
    loaded::PluginError,
    register::Setback,
    report::{PluginReport, PluginState},
    running::{Running, contribution},
};
use crate::{
    activity::{Render, Topic, TopicSettings},
    chain::index,
    config::Config,
    gateway::Gateway,
    http::router::RouteConflict,
    jobs::{InvalidJobs, JobFailure, JobSet},
    storage::{Schema, Scope},
};
use abi_stable::std_types::RResult;
use plugin_api::{
    abi::{FaultKind, FfiBytes, PluginBox},
    manifest::{Frame, TopicInput},
    point,
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio_util::task::TaskTracker;

impl Gateway {
    /// Opens every plugin that the configuration wants, in the order of their requirements.
    pub async fn open_plugins(&self, loaded: Vec<Result<LoadedPlugin, Box<PluginReport>>>) {
        let _transition = self.plugin_changes.lock().await;
        for outcome in loaded {
            match outcome {
                Ok(loaded) => self.plugins.lock().add(loaded),
                Err(report) => self.plugins.lock().add_refused(*report),
            }
        }
        let wanted = self.plugins.lock().wanted(self.config());
        self.start_all(&wanted, self.config()).await;
    }

    /// Brings the set of plugins to what a new configuration says. Those that start get their section of it.
    pub async fn reconcile_plugins(&self, config: &Config) {
        let _transition = self.plugin_changes.lock().await;
        self.plugins.lock().latest_config = Some(Arc::new(config.clone()));
        let wanted = self.plugins.lock().wanted(config);
        let leaving = self.plugins.lock().leaving(&wanted);
        for name in leaving {
            let reason = self.plugins.lock().off_reason(&name);
            self.stop_plugin(&name, PluginState::Disabled, reason).await;
        }
        self.plugins.lock().forget_failures(&wanted);
        self.start_all(&wanted, config).await;
    }

    /// Takes off a plugin that failed too often, unless the database was away: then no plugin could do its work, and all of
    /// them must be there when it comes back.
    pub async fn fence_plugin(&self, request: &FenceRequest) {
        let database = &self.services.database;
        let window = Duration::from_secs(self.config().plugins.fence_window_s);
        if database.probe().await.is_err() || database.was_away_within(window) {
            let (plugin, reason) = (&request.plugin, &request.reason);
            tracing::warn!(plugin, reason, "not fenced: faults do not count while the database is away");
            let serving = self.services.serving.list();
            serving.iter().filter(|running| running.name() == plugin).for_each(|running| running.life.pardon());
            return;
        }
        let _transition = self.plugin_changes.lock().await;
        // Switched off, or even on again, while the request waited.
        if self.plugins.lock().lives(request) {
            self.stop_plugin(&request.plugin, PluginState::Fenced, &request.reason).await;
        }
    }

    /// Stops everything, in the reverse order of opening.
    pub async fn close_plugins(&self) {
        let _transition = self.plugin_changes.lock().await;
        self.plugins.lock().is_closed = true;
        let leaving = self.plugins.lock().leaving(&BTreeSet::new());
        for name in leaving {
            self.stop_plugin(&name, PluginState::Stopped, "the gateway stops").await;
        }
    }

    /// One report per plugin.
    pub fn plugin_reports(&self) -> Vec<PluginReport> {
        let plugins = self.plugins.lock();
        plugins.entries.keys().filter_map(|name| plugins.report(name)).collect()
    }

    pub(super) async fn start_all(&self, wanted: &BTreeSet<String>, config: &Config) {
        let (order, stuck) = self.plugins.lock().starting(wanted);
        for (name, reason) in stuck {
            self.plugins.lock().note(&name, Setback::failed(reason));
        }
        for name in order {
            if let Err(setback) = self.start_plugin(&name, config).await {
                tracing::error!(plugin = name, state = %setback.state, "{}", setback.reason);
                self.plugins.lock().note(&name, setback);
            }
        }
    }

    async fn start_plugin(&self, name: &str, config: &Config) -> Result<(), Setback> {
        let Some((loaded, views)) = self.plugins.lock().prepare(name)? else { return Ok(()) };
        let life = self.new_life(name);
        self.plugins.lock().begins(name, life.clone());
        let usage = self.services.usage.plugin(name).database.clone();
        let scope = Scope::plugin(name, Arc::new(views)).counted_in(usage);
        let settings = config.plugins.settings(name).config;
        let object = self.construct(&loaded, settings, &life, &scope).await?;
        self.migrate(&loaded, &scope).await?;
        let running = Running::new(life, loaded.clone(), object, scope);
        let jobs = match self.open_doors(&running).await {
            Ok(jobs) => jobs,
            Err(setback) => {
                self.abandon(&running);
                return Err(setback);
            }
        };
        self.plugins.lock().serves(name, running, jobs);
        let (version, routes) = (&loaded.manifest.version, loaded.manifest.routes.len());
        tracing::info!(plugin = name, version, routes, "serving");
        Ok(())
    }

    /// Streams before routes: the first request for a stream finds it.
    async fn open_doors(&self, plugin: &Arc<Running>) -> Result<TaskTracker, Setback> {
        self.open_topics(plugin).await?;
        self.mount(plugin)?;
        if !plugin.manifest.subscriptions.is_empty() {
            plugin.life.tasks.spawn(index::run(self.services.clone(), plugin.clone()));
        }
        self.start_jobs(plugin).map_err(|error| Setback::failed(format!("its jobs cannot be scheduled: {error}")))
    }

    fn new_life(&self, name: &str) -> Arc<PluginLife> {
        let plugins = &self.config().plugins;
        let faults = usize::try_from(plugins.fence_faults).unwrap_or(usize::MAX);
        let limit = FaultLimit { faults, window: Duration::from_secs(plugins.fence_window_s) };
        PluginLife::new(name, limit, self.services.clock.clone(), self.services.fence_requests.clone())
    }

    /// The constructor is the plugin's own synchronous code: it runs on a thread of its own, with a time limit.
    async fn construct(
        &self,
        loaded: &Arc<LoadedPlugin>,
        settings: serde_json::Map<String, serde_json::Value>,
        life: &Arc<PluginLife>,
        scope: &Scope,
    ) -> Result<PluginBox, Setback> {
        let config = serde_json::to_vec(&settings).map_err(|error| Setback::failed(error.to_string()))?;
        let host = Capabilities {
            life: life.clone(),
            services: self.services.clone(),
            scope: scope.clone(),
            grants: loaded.manifest.grants.clone(),
        };
        let construct = loaded.module.construct();
        let work = tokio::task::spawn_blocking(move || construct(host.handle(), FfiBytes::from(config)));
        let limit = Duration::from_millis(self.config().plugins.constructor_timeout_ms);
        match tokio::time::timeout(limit, work).await {
            Ok(Ok(RResult::ROk(object))) => Ok(object),
            Ok(Ok(RResult::RErr(fault))) if fault.kind == FaultKind::Config => {
                Err(Setback::failed(format!("[plugins.{}] is not valid: {}", loaded.manifest.name, fault.message)))
            }
            Ok(Ok(RResult::RErr(fault))) => {
                life.fault("constructor", &fault);
                Err(Setback::failed(format!("the constructor failed: {} at {}", fault.message, fault.location)))
            }
            Ok(Err(error)) => Err(Setback::failed(format!("the constructor ended badly: {error}"))),
            Err(_elapsed) => {
                life.timed_out("constructor", limit);
                Err(Setback::failed(format!("the constructor did not return within {limit:?}")))
            }
        }
    }

    async fn migrate(&self, loaded: &LoadedPlugin, scope: &Scope) -> Result<(), Setback> {
        let manifest = &loaded.manifest;
        let outcome = {
            let schema = Schema { scope, views: &manifest.views, migrations: &manifest.migrations };
            self.services.database.migrate(&schema).await
        };
        outcome.map(drop).map_err(|error| Setback::failed(format!("its schema cannot be brought up to date: {error}")))
    }

    /// The new table is built first: a clash refuses the newcomer and the old table stays. By name, so that what is asked of
    /// all says the same whoever came last.
    fn mount(&self, newcomer: &Arc<Running>) -> Result<(), Setback> {
        let mut serving: Vec<Arc<Running>> = self.services.serving.list().as_ref().clone();
        serving.retain(|plugin| plugin.name() != newcomer.name());
        serving.push(newcomer.clone());
        serving.sort_by(|one, other| one.name().cmp(other.name()));
        self.publish(serving).map_err(|conflict| Setback::failed(conflict.to_string()))
    }

    pub(super) fn unmount(&self, name: &str) {
        let mut serving: Vec<Arc<Running>> = self.services.serving.list().as_ref().clone();
        serving.retain(|plugin| plugin.name() != name);
        if let Err(conflict) = self.publish(serving) {
            tracing::error!(%conflict, "a route table with fewer routes cannot clash");
        }
    }

    fn publish(&self, serving: Vec<Arc<Running>>) -> Result<(), RouteConflict> {
        self.rebuild_router(&serving)?;
        self.services.serving.replace(serving);
        Ok(())
    }

    async fn open_topics(&self, plugin: &Arc<Running>) -> Result<(), Setback> {
        for (index, spec) in plugin.manifest.contributions.iter().enumerate() {
            if spec.point != point::STREAM {
                continue;
            }
            let settings = TopicSettings {
                ring_events: self.config().activity.ring_events,
                heartbeat: Duration::from_secs(self.config().activity.heartbeat_s),
            };
            let (log, stop) = (self.services.activity.clone(), plugin.life.stop.clone());
            let opened = Topic::open(spec.name.clone(), log, renderer(plugin.clone(), index), settings, stop).await;
            let topic = opened.map_err(|error| Setback::failed(format!("its stream cannot be opened: {error}")))?;
            if !self.topics.insert(topic.clone()) {
                return Err(Setback::failed(format!("the stream {} is another plugin's", spec.name)));
            }
            plugin.life.tasks.spawn(topic.pump());
        }
        Ok(())
    }

    fn start_jobs(&self, plugin: &Arc<Running>) -> Result<TaskTracker, InvalidJobs> {
        let set = JobSet::new(plugin.name(), &plugin.manifest.jobs)?;
        let visited = plugin.clone();
        let run = move |job: u32| -> futures_util::future::BoxFuture<'static, Result<(), JobFailure>> {
            let plugin = visited.clone();
            Box::pin(async move { job::run(&plugin, job).await })
        };
        Ok(self.jobs.start(set, Arc::new(run), &plugin.life.stop))
    }

    /// New requests are refused, those inside finish or time out, jobs and streams end, then the plugin is told.
    pub(super) async fn stop_plugin(&self, name: &str, state: PluginState, reason: &str) {
        let leaving = self.plugins.lock().leaves(name, reason);
        if let Some((running, jobs)) = leaving {
            self.drain(&running, jobs, reason).await;
        }
        // The routes of a fenced plugin stay and answer 503: it is meant to be there.
        if state != PluginState::Fenced {
            self.unmount(name);
        }
        self.plugins.lock().note(name, Setback { state, reason: reason.to_owned() });
        tracing::info!(plugin = name, %state, "stopped");
    }

    async fn drain(&self, running: &Arc<Running>, jobs: Option<TaskTracker>, reason: &str) {
        let name = running.name();
        tracing::info!(plugin = name, reason, "draining");
        running.close();
        running.life.stop.cancel();
        let limit = Duration::from_millis(self.config().http.drain_timeout_ms);
        if !running.drained(limit).await {
            tracing::warn!(plugin = name, inside = running.inside(), "still busy after the drain limit");
        }
        if let Some(jobs) = jobs
            && tokio::time::timeout(limit, jobs.wait()).await.is_err()
        {
            tracing::warn!(plugin = name, "jobs did not end within the drain limit");
        }
        running.life.tasks.close();
        if tokio::time::timeout(limit, running.life.tasks.wait()).await.is_err() {
            tracing::warn!(plugin = name, "background tasks did not end within the drain limit");
        }
        stop_object(running, limit).await;
        self.topics.remove_of(running);
    }

    /// Takes back what was opened of a plugin that could not be opened to its end.
    fn abandon(&self, plugin: &Running) {
        plugin.close();
        plugin.life.stop.cancel();
        self.topics.remove_of(plugin);
        self.unmount(plugin.name());
    }
}

/// `stop` is the plugin's own synchronous code: it runs on a thread of its own, with a time limit.
async fn stop_object(running: &Arc<Running>, limit: Duration) {
    let (stopped, runtime) = (running.clone(), tokio::runtime::Handle::current());
    let work = tokio::task::spawn_blocking(move || runtime.block_on(stopped.object.stop()));
    match tokio::time::timeout(limit, work).await {
        Ok(Ok(RResult::ROk(()))) => {}
        Ok(Ok(RResult::RErr(fault))) => running.life.fault("stop", &fault),
        Ok(Err(error)) => tracing::error!(plugin = running.name(), %error, "stopping ended badly"),
        Err(_elapsed) => running.life.timed_out("stop", limit),
    }
}

fn renderer(plugin: Arc<Running>, index: usize) -> Render {
    Arc::new(move |rows| {
        let plugin = plugin.clone();
        Box::pin(async move {
            let input = serde_json::to_vec(&TopicInput { rows }).map_err(|error| error.to_string())?;
            let value = contribution(&plugin, index, input.into()).await.ok_or("the plugin's contribution failed")?;
            serde_json::from_value::<Vec<Frame>>(value).map_err(|error| {
                plugin.life.misshapen(point::STREAM, &error);
                error.to_string()
            })
        })
    })
}

/// Reads, checks and loads every library of the folder.
pub fn load_folder(config: &Config) -> Result<Vec<Result<LoadedPlugin, Box<PluginReport>>>, DiscoverError> {
    let folder = config
        .plugins
        .folder()
        .map_err(|source| DiscoverError { dir: "the folder of the gateway's binary".into(), source })?;
    let outcomes = discover(&folder)?.into_iter().map(|candidate| {
        let pin = config.plugins.settings(candidate.name()).sha256;
        let file = inspect::open(&candidate.path, pin.as_deref()).map_err(PluginError::from);
        let loaded = file.and_then(|file| LoadedPlugin::load(&file, &config.data_dir));
        loaded.map_err(|error| Box::new(PluginReport::of_error(candidate.name(), &error)))
    });
    Ok(outcomes.collect())
}
