//! One line per plugin for the operator: what it is, what state it is in, and why.

use super::{breaker::PausedOperation, state::PluginState};
use crate::{
    bounds::Bounds,
    loading::{LoadError, LoadedPlugin, PluginError, asked_grants},
};
use plugin_api::manifest::Manifest;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginReport {
    pub name: String,
    /// None when the file does not say.
    pub version: Option<String>,
    pub state: PluginState,
    /// One line; empty when there is nothing to explain.
    pub reason: String,
    pub path: Option<PathBuf>,
    /// Of the file that was loaded, or refused.
    pub sha256: Option<String>,
    /// Of the file in the folder, when it is another build than the one that is loaded.
    #[serde(default)]
    pub file_sha256: Option<String>,
    /// Version of the plugin API that it was built against, for example `1.0`.
    pub abi: Option<String>,
    pub routes: usize,
    /// Method and path of each route: `GET /api/forum/threads`.
    #[serde(default)]
    pub endpoints: Vec<String>,
    /// What wallets sign for its routes: `post.create`.
    #[serde(default)]
    pub actions: Vec<String>,
    /// Types of the events that it publishes: `post.create`.
    #[serde(default)]
    pub events: Vec<String>,
    pub jobs: usize,
    pub migrations_applied: usize,
    /// What it asks for besides its own tables and names: `egress`, `chain:main`, `signer:relayer`, `action:post.create`,
    /// `event:post.create`.
    #[serde(default)]
    pub grants: Vec<String>,
    /// Its tables in the database, when its file is gone.
    #[serde(default)]
    pub tables: Vec<String>,
    /// Whether it answers requests now, in whatever state its file is.
    #[serde(default)]
    pub serves: bool,
    /// What is paused because it failed too often, while the plugin serves.
    #[serde(default)]
    pub paused: Vec<PausedOperation>,
    /// Threads of the process that its code holds now.
    #[serde(default)]
    pub threads_lost: usize,
    /// How much its calls may give back or keep.
    #[serde(default)]
    pub bounds: Bounds,
    /// Since the gateway started.
    pub faults: u64,
    pub last_fault: Option<String>,
    /// Unix milliseconds.
    pub last_fault_ms: Option<i64>,
}

impl PluginReport {
    /// A report of a plugin of which only the name is known.
    pub fn named(name: &str, state: PluginState, reason: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            version: None,
            state,
            reason: reason.into(),
            path: None,
            sha256: None,
            file_sha256: None,
            abi: None,
            routes: 0,
            endpoints: Vec::new(),
            actions: Vec::new(),
            events: Vec::new(),
            jobs: 0,
            migrations_applied: 0,
            grants: Vec::new(),
            tables: Vec::new(),
            serves: false,
            paused: Vec::new(),
            threads_lost: 0,
            bounds: Bounds::default(),
            faults: 0,
            last_fault: None,
            last_fault_ms: None,
        }
    }

    /// A plugin that cannot be loaded.
    pub fn of_error(name: &str, error: &PluginError) -> Self {
        let mut report = Self::named(name, error.state(), error.to_string());
        match error {
            PluginError::Inspect(error) => report.path = Some(error.path.clone()),
            PluginError::Load { error: LoadError::NeedsRestart { running, found }, .. } => {
                (report.sha256, report.file_sha256) = (Some(running.clone()), Some(found.clone()));
            }
            _ => {}
        }
        report
    }

    pub fn of_loaded(plugin: &LoadedPlugin, state: PluginState) -> Self {
        let LoadedPlugin { inspection, manifest, .. } = plugin;
        let file = inspection.as_ref();
        Self {
            version: Some(manifest.version.clone()),
            path: file.map(|file| file.path.clone()),
            sha256: file.map(|file| file.sha256.clone()),
            abi: file.map(|file| format!("{}.{}", file.abi.0, file.abi.1)),
            routes: manifest.routes.len(),
            endpoints: manifest.routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect(),
            actions: signed_actions(manifest),
            events: manifest.event_types.clone(),
            jobs: manifest.jobs.len(),
            grants: asked_grants(plugin),
            ..Self::named(&manifest.name, state, "")
        }
    }

    /// Whether it should serve and does not.
    pub fn is_failure(&self) -> bool {
        use PluginState::{Failed, Fenced, NeedsRestart, Refused};
        !self.serves && matches!(self.state, Refused | Failed | Fenced | NeedsRestart)
    }
}

/// In the order of the routes, each once.
fn signed_actions(manifest: &Manifest) -> Vec<String> {
    let mut actions: Vec<String> = Vec::new();
    for action in manifest.routes.iter().filter_map(|route| route.auth.action()) {
        if !actions.iter().any(|known| known == action) {
            actions.push(action.to_owned());
        }
    }
    actions
}
