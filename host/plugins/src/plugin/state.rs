//! The states of a plugin.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginState {
    /// Its file or its manifest is wrong: none of its code ran, or no more than its description.
    Refused,
    /// Switched off, by the configuration or an operator, or not started yet.
    Disabled,
    /// Its own code, configuration or migration failed while it started.
    Failed,
    Starting,
    Serving,
    /// Switched off; requests in flight are finishing.
    Draining,
    /// Ran and was switched off.
    Stopped,
    /// Stopped, because three of its operations are paused or it held a thread; an operator resumes it.
    Fenced,
    /// Its file is another build than the one that this process has mapped, which goes on serving.
    NeedsRestart,
    /// Its file is not in the folder any more; its tables are still there.
    Gone,
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
            Self::Gone => "gone",
        }
    }
}

impl fmt::Display for PluginState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const STATES: [PluginState; 10] = [
        PluginState::Refused,
        PluginState::Disabled,
        PluginState::Failed,
        PluginState::Starting,
        PluginState::Serving,
        PluginState::Draining,
        PluginState::Stopped,
        PluginState::Fenced,
        PluginState::NeedsRestart,
        PluginState::Gone,
    ];

    #[test]
    fn a_state_is_called_the_same_everywhere() {
        for state in STATES {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }
}
