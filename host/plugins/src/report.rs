//! One line per plugin for the operator: what it is, what state it is in, and why.

use super::{LoadedPlugin, PluginError, loaded};
use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginState {
    /// Its file or its manifest is wrong: nothing of it ran.
    Refused,
    /// Switched off in the configuration.
    Disabled,
    /// Its own code, configuration or migration failed on the way up.
    Failed,
    Starting,
    Serving,
    /// Switched off; requests that had begun are finishing.
    Draining,
    /// Ran and was switched off.
    Stopped,
    /// Failed too often while serving; an operator resumes it.
    Fenced,
    /// Its file is another build than the one that this process has mapped.
    NeedsRestart,
}

impl PluginState {
    /// As on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Disabled => "disabled",
            Self::Failed => "failed",
            Self::Starting => "starting",
            Self::Serving => "serving",
            Self::Draining => "draining",
            Self::Stopped => "stopped",
            Self::Fenced => "fenced",
            Self::NeedsRestart => "needs_restart",
        }
    }
}

impl fmt::Display for PluginState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

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
    /// Since the gateway started.
    pub faults: u64,
    pub last_fault: Option<String>,
    /// Unix milliseconds.
    pub last_fault_ms: Option<i64>,
}

impl PluginReport {
    /// A plugin of which only the name is known.
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
            faults: 0,
            last_fault: None,
            last_fault_ms: None,
        }
    }

    /// A plugin that does not come to run.
    pub fn of_error(name: &str, error: &PluginError) -> Self {
        let mut report = Self::named(name, error.state(), error.to_string());
        if let PluginError::Inspect(error) = error {
            report.path = Some(error.path.clone());
        }
        report
    }

    pub fn of_loaded(plugin: &LoadedPlugin, state: PluginState) -> Self {
        let loaded::LoadedPlugin { inspection, manifest, .. } = plugin;
        let file = inspection.as_ref();
        Self {
            version: Some(manifest.version.clone()),
            path: file.map(|file| file.path.clone()),
            sha256: file.map(|file| file.sha256.clone()),
            abi: file.map(|file| format!("{}.{}", file.abi.0, file.abi.1)),
            routes: manifest.routes.len(),
            jobs: manifest.jobs.len(),
            ..Self::named(&manifest.name, state, "")
        }
    }

    /// Whether it should serve and does not.
    pub fn is_setback(&self) -> bool {
        use PluginState::{Failed, Fenced, NeedsRestart, Refused};
        matches!(self.state, Refused | Failed | Fenced | NeedsRestart)
    }

    fn cells(&self) -> [String; COLUMNS] {
        [
            self.name.clone(),
            self.version.clone().unwrap_or_else(|| "-".into()),
            self.state.to_string(),
            self.abi.clone().unwrap_or_else(|| "-".into()),
            self.routes.to_string(),
            self.jobs.to_string(),
            self.migrations_applied.to_string(),
            self.faults.to_string(),
            self.reason.clone(),
        ]
    }
}

const COLUMNS: usize = 9;
const HEADINGS: [&str; COLUMNS] =
    ["PLUGIN", "VERSION", "STATE", "API", "ROUTES", "JOBS", "MIGRATIONS", "FAULTS", "REASON"];

/// The reports as a table for people: a heading and one line per plugin.
pub fn table(reports: &[PluginReport]) -> String {
    let rows: Vec<[String; COLUMNS]> =
        std::iter::once(HEADINGS.map(str::to_owned)).chain(reports.iter().map(PluginReport::cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const STATES: [PluginState; 9] = [
        PluginState::Refused,
        PluginState::Disabled,
        PluginState::Failed,
        PluginState::Starting,
        PluginState::Serving,
        PluginState::Draining,
        PluginState::Stopped,
        PluginState::Fenced,
        PluginState::NeedsRestart,
    ];

    #[test]
    fn a_state_is_called_the_same_everywhere() {
        for state in STATES {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }

    #[test]
    fn the_table_has_one_aligned_line_per_plugin() {
        let mut forum = PluginReport::named("forum", PluginState::Serving, "");
        forum.version = Some("0.6.0".into());
        forum.routes = 12;
        let broken = PluginReport::named("broken_one", PluginState::NeedsRestart, "restart the gateway");
        let text = table(&[forum, broken]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        let column = |heading: &str| lines[0].find(heading).unwrap();
        assert_eq!(&lines[1][column("STATE")..][..7], "serving");
        assert_eq!(&lines[1][column("ROUTES")..][..2], "12");
        assert_eq!(&lines[2][column("REASON")..], "restart the gateway");
        assert!(lines.iter().all(|line| line.trim_end() == *line), "{text}");
    }
}
