//! `[plugins.bounties]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{ConfigError, JsonSchema};
use serde::Deserialize;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Ids of the operator's own agents: their claims are counted apart.
    pub house_agents: Vec<i64>,
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let wrong = self.house_agents.iter().find(|id| **id < 1);
        ConfigError::check([wrong.map(|id| format!("house_agents holds {id}: an agent's id is a positive number"))])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn other_agent_ids_are_refused() {
        assert!(Config::default().validate().is_ok());
        assert!(Config { house_agents: vec![1, 2] }.validate().is_ok());
        let ConfigError(reason) = Config { house_agents: vec![1, -2] }.validate().unwrap_err();
        assert!(reason.contains("-2"), "{reason}");
    }
}
