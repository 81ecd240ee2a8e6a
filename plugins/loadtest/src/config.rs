//! `[plugins.loadtest]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::model::Branch;
use plugin_api::{Address, ConfigError, JsonSchema};
use serde::Deserialize;

/// More would make the pages of their derivation take hours.
const WALLETS_MAX: u32 = 1_000_000;

/// Every key has a default, so the section may be missing; without `xpub` there is no load test.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Extended public key (`xpub…`) of `m/44'/60'/7'/0`, of which the wallets are the children: a branch that is used for nothing else,
    /// because it becomes public.
    pub xpub: Option<String>,
    /// Wallets beside the float: 1 to 1000000. More can be added, fewer make no wallet an ordinary address again.
    pub wallets: u32,
    /// Where what is left goes in the end: an address of the operator's.
    pub sink: Option<String>,
    /// Who runs it.
    pub operator_name: Option<String>,
    /// The operator's agent, if he has one.
    pub operator_agent_id: Option<i64>,
    /// Why it is run.
    pub purpose: String,
    /// The first block whose transactions are counted; the newest one at the first start when absent.
    pub count_from_block: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            xpub: None,
            wallets: 1000,
            sink: None,
            operator_name: None,
            operator_agent_id: None,
            purpose: "Shows that the chain carries the load, with transactions that are labelled as such".to_owned(),
            count_from_block: None,
        }
    }
}

impl Config {
    /// Returns the branch of the wallets; reports all problems at once.
    pub(crate) fn validate(&self) -> Result<Option<Branch>, ConfigError> {
        let branch = self.xpub.as_deref().map(Branch::parse).transpose();
        ConfigError::check([
            branch.as_ref().err().map(|error| format!("xpub: {error}")),
            ConfigError::outside("wallets", self.wallets, 1..=WALLETS_MAX),
            self.sink.as_ref().and_then(|sink| Some(format!("sink: {}", sink.parse::<Address>().err()?))),
        ])?;
        Ok(branch.ok().flatten())
    }

    pub(crate) fn sink_address(&self) -> Option<Address> {
        self.sink.as_ref().and_then(|sink| sink.parse().ok())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        assert!(Config::default().validate().unwrap().is_none());
        let config = Config { xpub: Some("xpub12".into()), wallets: 0, sink: Some("0x12".into()), ..Config::default() };
        let ConfigError(reason) = config.validate().unwrap_err();
        for part in ["xpub: ", "wallets is 0", "sink: "] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
    }
}
