//! The question which plugins of the gateway are on and serve: who collects contributions must know why one is missing.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PresenceCall {
    /// Names of plugins.
    pub plugins: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PresenceResult {
    /// For each name.
    pub presences: Vec<PluginPresence>,
}

/// Whether a plugin is on, and serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginPresence {
    Serving,
    /// It is on and does not serve: it starts, or failed.
    Down,
    /// It is switched off, or this gateway has none of this name.
    Off,
}

/// The question which plugins contribute to an extension point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContributorsCall {
    pub point: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContributorsResult {
    /// Names of plugins that are on.
    pub plugins: Vec<String>,
}
