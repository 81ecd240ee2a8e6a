//! The registry of plugins: the state of each, which ones are enabled, and their order. [`super::manager`] acts on it.

use super::{
    file_state::FileState,
    name_conflicts::NameClaims,
    service_types::{difference, differs_from_gateway, missing},
};
use crate::operators::Switches;
use gateway_config::Config;
use gateway_plugins::{
    ActivePlugin, ContainmentRequest, LoadOutcome, LoadedPlugin, PluginHandle, PluginReport, PluginState,
    polls::threads_lost,
};
use gateway_storage::ViewNames;
use plugin_api::manifest::Manifest;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio_util::task::TaskTracker;

/// Everything known about one plugin, in any state.
pub(crate) struct PluginEntry {
    pub loaded: Option<Arc<LoadedPlugin>>,
    pub running: Option<Arc<ActivePlugin>>,
    pub(super) jobs: Option<TaskTracker>,
    /// The handle of the present or last start; its faults are part of the report.
    pub(super) handle: Option<Arc<PluginHandle>>,
    /// How the file in the folder compares with what is loaded.
    pub(super) file: FileState,
    pub state: PluginState,
    pub reason: String,
    /// What kept it from starting before its code ran, one by one; the reason joins them.
    pub(super) obstacles: Vec<String>,
    pub report: PluginReport,
}

/// The plugins of this gateway by name. Locked for short steps only; whole transitions are serialised by
/// [`super::PluginManager::changes`], so that a report never waits for a drain.
#[derive(Default)]
pub(crate) struct PluginRegistry {
    pub(super) entries: BTreeMap<String, PluginEntry>,
    /// Operators' decisions, which outrank the configuration.
    pub(super) switches: Switches,
    /// When plugins ran for the first time on the database that a dry run is about; empty when plugins serve.
    pub(super) first_migrations_s: BTreeMap<String, i64>,
    /// The latest configuration, once it was reloaded.
    pub(super) latest_config: Option<Arc<Config>>,
    /// Plugins that lose what they claim to others, with the reason.
    pub(super) name_conflicts: BTreeMap<String, Vec<String>>,
    /// Plugins that have no file and are not loaded, and left tables.
    pub(super) gone: BTreeMap<String, PluginReport>,
    /// The gateway is stopping: no plugin starts any more.
    pub(super) is_closed: bool,
}

pub const OFF_BY_CONFIGURATION: &str = "switched off in the configuration";

/// Why a plugin does not serve.
pub(crate) struct InactiveReason {
    pub state: PluginState,
    pub reason: String,
}

impl InactiveReason {
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        Self { state: PluginState::Failed, reason: reason.into() }
    }
}

impl PluginRegistry {
    pub(super) fn add(&mut self, loaded: LoadedPlugin) {
        let report = PluginReport::of_loaded(&loaded, PluginState::Disabled);
        let entry = PluginEntry {
            loaded: Some(Arc::new(loaded)),
            running: None,
            jobs: None,
            handle: None,
            file: FileState::Unchanged,
            state: PluginState::Disabled,
            reason: self.off_reason(&report.name).into(),
            obstacles: Vec::new(),
            report,
        };
        self.entries.insert(entry.report.name.clone(), entry);
    }

    pub(super) fn add_refused(&mut self, report: PluginReport) {
        tracing::error!(plugin = report.name, "{}", report.reason);
        self.add_unloaded(report);
    }

    /// The name of the plugin that was added.
    pub(super) fn add_outcome(&mut self, outcome: LoadOutcome) -> String {
        match outcome {
            Ok(loaded) => {
                let name = loaded.name().to_owned();
                self.add(loaded);
                name
            }
            Err(report) => {
                let name = report.name.clone();
                self.add_refused(*report);
                name
            }
        }
    }

    /// A plugin without a library, so far.
    pub(super) fn add_unloaded(&mut self, report: PluginReport) {
        let (state, reason) = (report.state, report.reason.clone());
        let entry = PluginEntry {
            loaded: None,
            running: None,
            jobs: None,
            handle: None,
            file: FileState::Unchanged,
            state,
            reason,
            obstacles: Vec::new(),
            report,
        };
        self.entries.insert(entry.report.name.clone(), entry);
    }

    pub(super) fn wanted(&self, config: &Config) -> BTreeSet<String> {
        let is_enabled = |(name, entry): &(&String, &PluginEntry)| match &entry.loaded {
            Some(loaded) => loaded.is_enabled(&config.plugins),
            None => config.plugins.is_enabled(name),
        };
        let is_on = |plugin: &(&String, &PluginEntry)| {
            self.switches.get(plugin.0).copied().unwrap_or_else(|| is_enabled(plugin))
        };
        self.entries.iter().filter(is_on).map(|(name, _)| name.clone()).collect()
    }

    /// All plugins that are loaded: those that serve or are wanted, and the tables and views of the others.
    pub(super) fn name_claims(
        &self,
        wanted: &BTreeSet<String>,
        config: &Config,
        since_s: impl Fn(&str) -> Option<i64>,
    ) -> Vec<NameClaims> {
        let claims = |(name, entry): (&String, &PluginEntry)| {
            let loaded = entry.loaded.as_ref()?;
            let serves = entry.running.is_some();
            let may_start = wanted.contains(name) && entry.file.is_unchanged();
            let is_pinned = config.plugins.settings(name).sha256.is_some();
            Some(NameClaims {
                manifest: loaded.manifest.clone(),
                serves,
                is_off: !serves && !may_start,
                is_trusted: loaded.is_released || is_pinned,
                since_s: since_s(name),
            })
        };
        self.entries.iter().filter_map(claims).collect()
    }

    pub(super) fn set_switches(&mut self, switches: Switches) {
        self.switches = switches;
    }

    pub(super) fn has_switches(&self, switches: &Switches) -> bool {
        self.switches == *switches
    }

    /// The plugins whose switch is another now.
    pub(super) fn replace_switches(&mut self, switches: Switches) -> BTreeSet<String> {
        let before = std::mem::replace(&mut self.switches, switches);
        let names: BTreeSet<&String> = before.keys().chain(self.switches.keys()).collect();
        names.into_iter().filter(|name| before.get(*name) != self.switches.get(*name)).cloned().collect()
    }

    pub(super) fn set_switch(&mut self, name: &str, enabled: bool) {
        self.switches.insert(name.to_owned(), enabled);
    }

    /// The operator's decision, if there is one.
    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        self.switches.get(name).copied()
    }

    pub(super) fn latest_config(&self) -> Option<Arc<Config>> {
        self.latest_config.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The plugins that serve and are not wanted; dependents come before what they require.
    pub(super) fn stop_order(&self, wanted: &BTreeSet<String>) -> Vec<String> {
        let unwanted: BTreeSet<String> = self.serving_or_fenced().filter(|name| !wanted.contains(name)).collect();
        self.in_order(&unwanted).0.into_iter().rev().collect()
    }

    /// The plugins that are wanted and do not serve, in start order, and those in a cycle, with the reason.
    pub(super) fn start_order(&self, wanted: &BTreeSet<String>) -> (Vec<String>, Vec<(String, String)>) {
        self.in_order(&self.startable().filter(|name| wanted.contains(name)).collect())
    }

    /// The plugin that is to start, with the views that its statements may name; `None` for one without a library.
    pub(super) fn prepare(&mut self, name: &str) -> Option<(Arc<LoadedPlugin>, ViewNames)> {
        let loaded = self.entries.get(name)?.loaded.clone()?;
        self.note(name, InactiveReason { state: PluginState::Starting, reason: String::new() });
        let views = self.readable_views(&loaded.manifest);
        Some((loaded, views))
    }

    pub(super) fn keeps_secrets(&self, name: &str) -> bool {
        let loaded = self.entries.get(name).and_then(|entry| entry.loaded.as_ref());
        loaded.is_some_and(|loaded| loaded.manifest.grants.secrets)
    }

    pub(super) fn set_handle(&mut self, name: &str, handle: Arc<PluginHandle>) {
        if let Some(entry) = self.entries.get_mut(name) {
            entry.report = entry.report_so_far();
            entry.handle = Some(handle);
        }
    }

    pub(super) fn set_migrations_applied(&mut self, name: &str, steps: usize) {
        if let Some(entry) = self.entries.get_mut(name) {
            entry.report.migrations_applied = steps;
        }
    }

    /// Whether the start of the plugin that the request is about still runs.
    pub(super) fn is_running(&self, request: &ContainmentRequest) -> bool {
        let running = self.entries.get(&request.plugin).and_then(|entry| entry.running.as_ref());
        running.is_some_and(|running| running.handle.generation == request.generation)
    }

    pub(super) fn set_serving(&mut self, name: &str, running: Arc<ActivePlugin>, jobs: TaskTracker) {
        if let Some(entry) = self.entries.get_mut(name) {
            (entry.running, entry.jobs) = (Some(running), Some(jobs));
            (entry.state, entry.reason) = (PluginState::Serving, String::new());
        }
    }

    pub(super) fn begin_drain(&mut self, name: &str, reason: &str) -> Option<(Arc<ActivePlugin>, Option<TaskTracker>)> {
        let entry = self.entries.get_mut(name)?;
        let running = entry.running.take()?;
        (entry.state, entry.reason) = (PluginState::Draining, reason.to_owned());
        Some((running, entry.jobs.take()))
    }

    /// The plugins that serve or are fenced.
    fn serving_or_fenced(&self) -> impl Iterator<Item = String> {
        let is_present = |entry: &PluginEntry| entry.running.is_some() || entry.state == PluginState::Fenced;
        self.entries.iter().filter(move |(_, entry)| is_present(entry)).map(|(name, _)| name.clone())
    }

    /// The plugins that are loaded and do not serve. A fenced one waits for the operator, and one that starts for its constructor.
    fn startable(&self) -> impl Iterator<Item = String> {
        let is_idle = |entry: &PluginEntry| {
            let is_elsewhere = matches!(entry.state, PluginState::Fenced | PluginState::Starting);
            entry.loaded.is_some() && entry.running.is_none() && !is_elsewhere
        };
        self.entries.iter().filter(move |(_, entry)| is_idle(entry)).map(|(name, _)| name.clone())
    }

    /// A failed plugin that is no longer wanted is reported as disabled.
    pub(super) fn forget_failures(&mut self, wanted: &BTreeSet<String>) {
        let off = |(name, entry): (&String, &PluginEntry)| {
            let forgets = !wanted.contains(name) && entry.state == PluginState::Failed && entry.loaded.is_some();
            forgets.then(|| name.clone())
        };
        let forgotten: Vec<String> = self.entries.iter().filter_map(off).collect();
        for name in forgotten {
            let reason = self.off_reason(&name).to_owned();
            self.note(&name, InactiveReason { state: PluginState::Disabled, reason });
        }
    }

    pub(super) fn note(&mut self, name: &str, inactive: InactiveReason) {
        if let Some(entry) = self.entries.get_mut(name) {
            (entry.state, entry.reason) = (inactive.state, inactive.reason);
            entry.obstacles.clear();
        }
    }

    /// Sorts `names` so that requirements come first; those in a cycle are returned apart, with the reason.
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
        let cycle = waiting.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        let stuck = waiting.iter().map(|name| ((*name).clone(), format!("these plugins require each other: {cycle}")));
        (order, stuck.collect())
    }

    pub(super) fn requirements(&self, name: &str) -> Vec<String> {
        let loaded = self.entries.get(name).and_then(|entry| entry.loaded.as_ref());
        loaded.map(|loaded| loaded.manifest.requires.clone()).unwrap_or_default()
    }

    pub(super) fn missing_requirements(&self, loaded: &LoadedPlugin) -> Option<String> {
        let serves = |name: &String| self.entries.get(name).is_some_and(|entry| entry.running.is_some());
        let missing: Vec<&str> =
            loaded.manifest.requires.iter().filter(|name| !serves(name)).map(String::as_str).collect();
        if missing.is_empty() {
            return None;
        }
        let starts = |name: &&str| self.entries.get(*name).is_some_and(|entry| entry.state == PluginState::Starting);
        let (names, is_to_come) = (missing.join(", "), missing.iter().all(starts));
        Some(if is_to_come {
            format!("it requires {names}, which is still starting: it starts after that")
        } else {
            format!("it requires {names}, which does not serve: enable it first")
        })
    }

    /// Plugins that share a service or an extension point mean the same by it.
    pub(super) fn service_differences(&self, newcomer: &LoadedPlugin) -> Vec<String> {
        let others = self.entries.values().filter_map(|entry| Some((entry, entry.loaded.as_ref()?)));
        others
            .filter(|(_, other)| other.manifest.name != newcomer.manifest.name)
            .filter_map(|(entry, other)| difference(&newcomer.manifest, &other.manifest, entry.running.is_some()))
            .chain(differs_from_gateway(&newcomer.manifest))
            .collect()
    }

    /// What the plugin uses or contributes to, and no plugin that serves has.
    pub(super) fn missing_services(&self, name: &str) -> Vec<String> {
        let Some(own) = self.entries.get(name).and_then(|entry| entry.loaded.as_ref()) else { return Vec::new() };
        let serving = self.entries.values().filter_map(|entry| entry.running.as_ref());
        missing(&own.manifest, &serving.map(|running| &*running.manifest).collect::<Vec<_>>())
    }

    /// The views that statements of a plugin may name. One whose plugin never ran does not exist, and reading it fails with that
    /// reason.
    pub(super) fn readable_views(&self, reader: &Manifest) -> ViewNames {
        readable_views(self.entries.values().filter_map(|entry| entry.loaded.as_deref()), reader)
    }
}

impl PluginEntry {
    pub(super) fn current_report(&self) -> PluginReport {
        let mut report = self.report_so_far();
        (report.state, report.reason) = (self.state, self.reason.clone());
        report.serves = self.running.is_some();
        report.threads_lost = threads_lost(&report.name);
        report.paused = self.running.as_ref().map(|running| running.handle.paused_operations()).unwrap_or_default();
        report
    }

    /// The report with the faults of the present start.
    pub(super) fn report_so_far(&self) -> PluginReport {
        let mut report = self.report.clone();
        if let Some(handle) = &self.handle {
            report.faults += handle.fault_count();
            if let Some((at_ms, fault)) = handle.last_fault() {
                (report.last_fault_ms, report.last_fault) = (Some(at_ms), Some(fault));
            }
        }
        report
    }
}

/// Views of the gateway and of these plugins.
pub fn published_views<'a>(plugins: impl Iterator<Item = &'a LoadedPlugin>) -> ViewNames {
    let published = plugins.flat_map(|plugin| plugin.manifest.views.iter().cloned());
    published.chain(crate::views::views()).collect()
}

/// Of these views those that a plugin may read: private ones of the gateway and of other plugins only by its grants.
pub fn readable_views<'a>(plugins: impl Iterator<Item = &'a LoadedPlugin> + Clone, reader: &Manifest) -> ViewNames {
    let mut views = published_views(plugins.clone());
    let others = plugins.filter(|plugin| plugin.name() != reader.name);
    let of_others = others.flat_map(|plugin| plugin.manifest.private_views.iter().map(String::as_str));
    for view in of_others.chain(crate::views::PRIVATE) {
        if !reader.grants.views.iter().any(|granted| granted == view) {
            views.remove(view);
        }
    }
    views
}
