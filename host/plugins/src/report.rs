//! One line per plugin for the operator: what it is, what state it is in, and why.

use super::{
    PluginState,
    bounds::Bounds,
    breaker::PausedOperation,
    loading::{LoadedPlugin, PluginError, asked_grants},
};
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
    pub sha256: Option<String>,
    /// Version of the plugin API that it was built against, for example `1.0`.
    pub abi: Option<String>,
    pub routes: usize,
    pub jobs: usize,
    pub migrations_applied: usize,
    /// What it asks for besides its own tables and names: `egress`, `chain:main`, `signer:relayer`, `action:post.create`,
    /// `event:post.create`.
    #[serde(default)]
    pub grants: Vec<String>,
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
            abi: None,
            routes: 0,
            jobs: 0,
            migrations_applied: 0,
            grants: Vec::new(),
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
        if let PluginError::Inspect(error) = error {
            report.path = Some(error.path.clone());
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
            jobs: manifest.jobs.len(),
            grants: asked_grants(plugin),
            ..Self::named(&manifest.name, state, "")
        }
    }

    /// Whether it should serve and does not.
    pub fn is_failure(&self) -> bool {
        use PluginState::{Failed, Fenced, NeedsRestart, Refused};
        matches!(self.state, Refused | Failed | Fenced | NeedsRestart)
    }
}
