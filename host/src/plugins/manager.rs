//! The life of plugins: load → configure → order → migrate → mount → serve → drain → stopped (DESIGN §4).
//!
//! The rules: a plugin that fails at any step is a report, not an outage; the route table changes in one step; libraries
//! stay mapped for ever, so that disabling only unroutes and enabling again reuses what is loaded.

use super::{
    capabilities::Capabilities,
    discover::{DiscoverError, discover},
    inspect::inspect,
    life::{FaultLimit, PluginLife},
    loaded::LoadedPlugin,
    loaded::PluginError,
    report::{PluginReport, PluginState},
    running::{Running, contribution},
};
use crate::{
    activity::{Render, Topic, TopicSettings},
    config::Config,
    gateway::Gateway,
    http::router::RouteConflict,
    jobs::{InvalidJobs, JobFailure, JobSet},
    storage::{Schema, Scope, ViewNames},
};
use abi_stable::std_types::RResult;
use plugin_api::{
    abi::{FaultKind, FfiBytes, PluginBox},
    manifest::{Frame, TopicInput},
    point,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio_util::task::TaskTracker;

/// Everything known about one plugin, whatever became of it.
pub struct Entry {
    pub loaded: Option<Arc<LoadedPlugin>>,
    pub running: Option<Arc<Running>>,
    jobs: Option<TaskTracker>,
    pub state: PluginState,
    pub reason: String,
    pub report: PluginReport,
}

/// The plugins of this gateway by name. Looked at and changed in short steps; whole transitions are serialised by
/// [`Gateway::plugin_changes`], so that a report never waits for a drain.
#[derive(Default)]
pub struct Plugins {
    pub(super) entries: BTreeMap<String, Entry>,
}

const SWITCHED_OFF: &str = "switched off in the configuration";

/// Why a plugin does not serve.
struct Setback {
    state: PluginState,
    reason: String,
}

impl Setback {
    fn failed(reason: impl Into<String>) -> Self {
        Self { state: PluginState::Failed, reason: reason.into() }
    }
}

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
        let wanted = self.plugins.lock().wanted(config);
        let leaving = self.plugins.lock().leaving(&wanted);
        for name in leaving {
            self.stop_plugin(&name, PluginState::Disabled, SWITCHED_OFF).await;
        }
        self.plugins.lock().forget_failures(&wanted);
        self.start_all(&wanted, config).await;
    }

    /// Takes off a plugin that failed too often, unless the database was away: then no plugin could do its work, and all of
    /// them must be there when it comes back.
    pub async fn fence_plugin(&self, name: &str, reason: &str) {
        let database = &self.services.database;
        let window = Duration::from_secs(self.config().plugins.fence_window_s);
        if database.probe().await.is_err() || database.was_away_within(window) {
            tracing::warn!(plugin = name, reason, "not fenced: faults do not count while the database is away");
            let serving = self.services.serving.list();
            serving.iter().filter(|plugin| plugin.name() == name).for_each(|plugin| plugin.life.pardon());
            return;
        }
        let _transition = self.plugin_changes.lock().await;
        self.stop_plugin(name, PluginState::Fenced, reason).await;
    }

    /// Stops everything, in the reverse order of opening.
    pub async fn close_plugins(&self) {
        let _transition = self.plugin_changes.lock().await;
        let leaving = self.plugins.lock().leaving(&BTreeSet::new());
        for name in leaving {
            self.stop_plugin(&name, PluginState::Stopped, "the gateway stops").await;
        }
    }

    /// One report per plugin.
    pub fn plugin_reports(&self) -> Vec<PluginReport> {
        self.plugins.lock().entries.values().map(Entry::current_report).collect()
    }

    async fn start_all(&self, wanted: &BTreeSet<String>, config: &Config) {
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
        let scope = Scope::plugin(name, Arc::new(views));
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
        self.start_jobs(plugin).map_err(|error| Setback::failed(format!("its jobs cannot be scheduled: {error}")))
    }

    fn new_life(&self, name: &str) -> Arc<PluginLife> {
        let plugins = &self.config().plugins;
        let faults = usize::try_from(plugins.fence_faults).unwrap_or(usize::MAX);
        let limit = FaultLimit { faults, window: Duration::from_secs(plugins.fence_window_s) };
        PluginLife::new(name, limit, self.services.fence_requests.clone())
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
                Err(Setback::failed(format!("the constructor failed: {} {}", fault.message, fault.location)))
            }
            Ok(Err(error)) => Err(Setback::failed(format!("the constructor ended badly: {error}"))),
            Err(_elapsed) => Err(Setback::failed(format!("the constructor did not return within {limit:?}"))),
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

    /// The new table is built first: a clash refuses the newcomer and the old table stays.
    fn mount(&self, newcomer: &Arc<Running>) -> Result<(), Setback> {
        let mut serving: Vec<Arc<Running>> = self.services.serving.list().as_ref().clone();
        serving.retain(|plugin| plugin.name() != newcomer.name());
        serving.push(newcomer.clone());
        self.publish(serving).map_err(|conflict| Setback::failed(conflict.to_string()))
    }

    fn unmount(&self, name: &str) {
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
            Box::pin(async move { run_job(&plugin, job).await })
        };
        Ok(self.jobs.start(set, Arc::new(run), &plugin.life.stop))
    }

    /// New requests are refused, those inside finish or time out, jobs and streams end, then the plugin is told.
    async fn stop_plugin(&self, name: &str, state: PluginState, reason: &str) {
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
        match tokio::time::timeout(limit, running.object.stop()).await {
            Ok(RResult::ROk(())) => {}
            Ok(RResult::RErr(fault)) => running.life.fault("stop", &fault),
            Err(_elapsed) => running.life.timed_out("stop", limit),
        }
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

async fn run_job(plugin: &Arc<Running>, job: u32) -> Result<(), JobFailure> {
    let Some(_visit) = plugin.enter() else { return Err(JobFailure::Failed("the plugin is draining".into())) };
    match plugin.object.run_job(job).await {
        RResult::ROk(()) => Ok(()),
        RResult::RErr(fault) => {
            let name = plugin.manifest.jobs.get(job as usize).map_or("?", |spec| spec.name.as_str());
            plugin.life.fault(&format!("job {name}"), &fault);
            Err(match fault.kind {
                FaultKind::Panic => {
                    JobFailure::Panicked { message: fault.message.to_string(), location: fault.location.to_string() }
                }
                _ => JobFailure::Failed(fault.message.to_string()),
            })
        }
    }
}

fn renderer(plugin: Arc<Running>, index: usize) -> Render {
    Arc::new(move |rows| {
        let plugin = plugin.clone();
        Box::pin(async move {
            let input = serde_json::to_vec(&TopicInput { rows }).map_err(|error| error.to_string())?;
            let value = contribution(&plugin, index, input.into()).await.ok_or("the plugin's contribution failed")?;
            serde_json::from_value::<Vec<Frame>>(value).map_err(|error| error.to_string())
        })
    })
}

impl Plugins {
    fn add(&mut self, loaded: LoadedPlugin) {
        let report = PluginReport::of_loaded(&loaded, PluginState::Disabled);
        let entry = Entry {
            loaded: Some(Arc::new(loaded)),
            running: None,
            jobs: None,
            state: PluginState::Disabled,
            reason: SWITCHED_OFF.into(),
            report,
        };
        self.entries.insert(entry.report.name.clone(), entry);
    }

    fn add_refused(&mut self, report: PluginReport) {
        tracing::error!(plugin = report.name, "{}", report.reason);
        let (state, reason) = (report.state, report.reason.clone());
        self.entries
            .insert(report.name.clone(), Entry { loaded: None, running: None, jobs: None, state, reason, report });
    }

    fn wanted(&self, config: &Config) -> BTreeSet<String> {
        self.entries.keys().filter(|name| config.plugins.is_enabled(name)).cloned().collect()
    }

    /// Who is there and not wanted; those who require others come first.
    fn leaving(&self, wanted: &BTreeSet<String>) -> Vec<String> {
        let leaving: BTreeSet<String> = self.present().filter(|name| !wanted.contains(name)).collect();
        self.in_order(&leaving).0.into_iter().rev().collect()
    }

    /// Who is wanted and not there, in order, and who cannot be ordered, with the reason.
    fn starting(&self, wanted: &BTreeSet<String>) -> (Vec<String>, Vec<(String, String)>) {
        self.in_order(&self.idle().filter(|name| wanted.contains(name)).collect())
    }

    /// The checks before a plugin's own code runs; `None` for one without a library.
    fn prepare(&mut self, name: &str) -> Result<Option<(Arc<LoadedPlugin>, ViewNames)>, Setback> {
        let Some(loaded) = self.entries.get(name).and_then(|entry| entry.loaded.clone()) else { return Ok(None) };
        self.check_requirements(&loaded)?;
        self.check_views(&loaded)?;
        self.note(name, Setback { state: PluginState::Starting, reason: String::new() });
        Ok(Some((loaded, self.readable_views())))
    }

    fn serves(&mut self, name: &str, running: Arc<Running>, jobs: TaskTracker) {
        if let Some(entry) = self.entries.get_mut(name) {
            (entry.running, entry.jobs) = (Some(running), Some(jobs));
            (entry.state, entry.reason) = (PluginState::Serving, String::new());
        }
    }

    fn leaves(&mut self, name: &str, reason: &str) -> Option<(Arc<Running>, Option<TaskTracker>)> {
        let entry = self.entries.get_mut(name)?;
        let running = entry.running.take()?;
        entry.report.faults += running.life.fault_count();
        entry.report.last_fault = running.life.last_fault();
        (entry.state, entry.reason) = (PluginState::Draining, reason.to_owned());
        Some((running, entry.jobs.take()))
    }

    /// Serving, or fenced and still answering for itself.
    fn present(&self) -> impl Iterator<Item = String> {
        let is_present = |entry: &Entry| entry.running.is_some() || entry.state == PluginState::Fenced;
        self.entries.iter().filter(move |(_, entry)| is_present(entry)).map(|(name, _)| name.clone())
    }

    /// Loaded but not serving. A fenced one waits until the operator has switched it off and on again.
    fn idle(&self) -> impl Iterator<Item = String> {
        let is_idle =
            |entry: &Entry| entry.loaded.is_some() && entry.running.is_none() && entry.state != PluginState::Fenced;
        self.entries.iter().filter(move |(_, entry)| is_idle(entry)).map(|(name, _)| name.clone())
    }

    /// What failed and is no longer wanted is switched off, not broken.
    fn forget_failures(&mut self, wanted: &BTreeSet<String>) {
        for (_, entry) in self.entries.iter_mut().filter(|(name, _)| !wanted.contains(*name)) {
            if entry.state == PluginState::Failed && entry.loaded.is_some() {
                (entry.state, entry.reason) = (PluginState::Disabled, SWITCHED_OFF.into());
            }
        }
    }

    fn note(&mut self, name: &str, setback: Setback) {
        if let Some(entry) = self.entries.get_mut(name) {
            (entry.state, entry.reason) = (setback.state, setback.reason);
        }
    }

    /// `names` so that requirements come first, and those that cannot be ordered, with the reason.
    fn in_order(&self, names: &BTreeSet<String>) -> (Vec<String>, Vec<(String, String)>) {
        let mut order: Vec<String> = Vec::with_capacity(names.len());
        let mut waiting: Vec<&String> = names.iter().collect();
        loop {
            let before = waiting.len();
            waiting.retain(|name| {
                let requires = self.requirements(name);
                let is_ready = requires.iter().all(|required| !names.contains(required) || order.contains(required));
                if is_ready {
                    order.push((*name).clone());
                }
                !is_ready
            });
            if waiting.is_empty() || waiting.len() == before {
                break;
            }
        }
        let circle = waiting.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        let stuck = waiting.iter().map(|name| ((*name).clone(), format!("these plugins require each other: {circle}")));
        (order, stuck.collect())
    }

    fn requirements(&self, name: &str) -> Vec<String> {
        let loaded = self.entries.get(name).and_then(|entry| entry.loaded.as_ref());
        loaded.map(|loaded| loaded.manifest.requires.clone()).unwrap_or_default()
    }

    fn check_requirements(&self, loaded: &LoadedPlugin) -> Result<(), Setback> {
        let serves = |name: &String| self.entries.get(name).is_some_and(|entry| entry.running.is_some());
        let missing: Vec<&str> =
            loaded.manifest.requires.iter().filter(|name| !serves(name)).map(String::as_str).collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Setback::failed(format!("it requires {}, which does not serve: enable it first", missing.join(", "))))
    }

    /// Two plugins cannot publish one view, nor have table prefixes that contain each other.
    fn check_views(&self, newcomer: &LoadedPlugin) -> Result<(), Setback> {
        let name = &newcomer.manifest.name;
        for other in self.entries.values().filter_map(|entry| entry.loaded.as_ref()) {
            if other.manifest.name == *name {
                continue;
            }
            if crate::storage::shares_tables(name, &other.manifest.name) {
                let reason = format!(
                    "its tables could not be told from those of {}: rename one of the two",
                    other.manifest.name
                );
                return Err(Setback::failed(reason));
            }
            let prefix = format!("{}_", other.manifest.name);
            if let Some(view) = newcomer.manifest.views.iter().find(|view| view.starts_with(&prefix)) {
                return Err(Setback::failed(format!("the view {view} is named like one of {}", other.manifest.name)));
            }
            if let Some(view) = newcomer.manifest.views.iter().find(|view| other.manifest.views.contains(view)) {
                return Err(Setback::failed(format!(
                    "the view {view} is already published by {}",
                    other.manifest.name
                )));
            }
        }
        Ok(())
    }

    /// A view whose plugin never ran does not exist, and its reader hears so.
    fn readable_views(&self) -> ViewNames {
        published_views(self.entries.values().filter_map(|entry| entry.loaded.as_deref()))
    }
}

impl Entry {
    fn current_report(&self) -> PluginReport {
        let mut report = self.report.clone();
        (report.state, report.reason) = (self.state, self.reason.clone());
        if let Some(running) = &self.running {
            report.faults += running.life.fault_count();
            report.last_fault = running.life.last_fault();
        }
        report
    }
}

/// Views of the gateway and of these plugins.
pub fn published_views<'a>(plugins: impl Iterator<Item = &'a LoadedPlugin>) -> ViewNames {
    let published = plugins.flat_map(|plugin| plugin.manifest.views.iter().cloned());
    published.chain([crate::activity::VIEW.to_owned()]).collect()
}

/// Reads, checks and loads every library of the folder.
pub fn load_folder(config: &Config) -> Result<Vec<Result<LoadedPlugin, Box<PluginReport>>>, DiscoverError> {
    let folder = config
        .plugins
        .folder()
        .map_err(|source| DiscoverError { dir: "the folder of the gateway's binary".into(), source })?;
    let outcomes = discover(&folder)?.into_iter().map(|candidate| {
        let pin = config.plugins.settings(candidate.name()).sha256;
        let inspected = inspect(&candidate.path, pin.as_deref()).map_err(PluginError::from);
        let loaded = inspected.and_then(|inspection| LoadedPlugin::load(inspection, &config.data_dir));
        loaded.map_err(|error| Box::new(PluginReport::of_error(candidate.name(), &error)))
    });
    Ok(outcomes.collect())
}
