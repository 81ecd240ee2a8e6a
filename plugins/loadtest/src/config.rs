//! `[plugins.loadtest]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{Address, ConfigError, JsonSchema, Wei};
use serde::Deserialize;
use xpub_address::ExtendedPublicKey;

/// More would make the pages of their derivation take hours.
const WALLETS_MAX: u32 = 1_000_000;

const COIN: u64 = 1_000_000_000_000_000_000;
const GWEI: u64 = 1_000_000_000;

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
    /// The first block whose transactions are counted; the newest final one at the first start when absent.
    pub count_from_block: Option<u64>,
    /// Whether the gateway may run the test itself, with the seed of the role `loadtest`. An operator starts it; without this one that
    /// runs is drained.
    pub runner: bool,
    /// Whether it begins without an operator, when the gateway starts for the first time.
    pub autostart: bool,
    /// Addresses that may start, pause and drain the runner.
    pub operators: Vec<String>,
    /// Transactions in a second: 1 to 500.
    pub rate_per_s: u32,
    /// Wallets of a wave: 1 to 100; and waves at the same time: 1 to 100.
    pub wave_wallets: u32,
    pub waves_max: u32,
    /// Transfers of each wallet in a wave: 0 to 1000; and what each moves, in wei.
    pub transfers: u32,
    pub transfer_wei: Wei,
    /// What the float keeps, in wei: with less no wave begins.
    pub float_min_wei: Wei,
    /// What wallets have at most, all together, in wei.
    pub in_flight_max_wei: Wei,
    /// What the waves of the test may cost in fees, in wei; then it drains. What a drain costs beyond its waves comes on top: a transaction
    /// for each wallet in which something was left, and one to the sink.
    pub spend_max_wei: Wei,
    /// Per gas, in wei: the part of the price above twice the base fee, and the highest price.
    pub tip_wei: Wei,
    pub gas_price_max_wei: Wei,
    /// The runner pauses while the newest block is older, in seconds: 1 to 1000000000.
    pub head_age_max_s: i64,
    /// It pauses while more transactions wait in the servers' pools, where they tell.
    pub pool_max: i64,
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
            runner: false,
            autostart: false,
            operators: Vec::new(),
            rate_per_s: 10,
            wave_wallets: 25,
            waves_max: 4,
            transfers: 3,
            transfer_wei: Wei::from(COIN / 1000),
            float_min_wei: Wei::from(COIN),
            in_flight_max_wei: Wei::from(COIN).saturating_mul(100),
            spend_max_wei: Wei::from(COIN).saturating_mul(10),
            tip_wei: Wei::from(GWEI),
            gas_price_max_wei: Wei::from(GWEI).saturating_mul(50),
            head_age_max_s: 60,
            pool_max: 5000,
        }
    }
}

impl Config {
    /// Returns the branch of the wallets; reports all problems at once.
    pub(crate) fn validate(&self) -> Result<Option<ExtendedPublicKey>, ConfigError> {
        let branch = self.xpub.as_deref().map(ExtendedPublicKey::parse).transpose();
        let bad_operator = self.operators.iter().find(|operator| operator.parse::<Address>().is_err());
        ConfigError::check([
            bad_operator.map(|operator| format!("operators: `{operator}` is no address")),
            (self.runner && self.xpub.is_none()).then(|| "runner needs xpub: what it does is disclosed".to_owned()),
            ConfigError::outside("rate_per_s", self.rate_per_s, 1..=500),
            ConfigError::outside("wave_wallets", self.wave_wallets, 1..=100),
            ConfigError::outside("waves_max", self.waves_max, 1..=100),
            ConfigError::outside("transfers", self.transfers, 0..=1000),
            (self.transfer_wei == Wei::ZERO).then(|| "transfer_wei is 0: a transfer has to move something".to_owned()),
            ConfigError::outside("head_age_max_s", self.head_age_max_s, 1..=1_000_000_000),
            branch.as_ref().err().map(|error| format!("xpub: {error}")),
            ConfigError::outside("wallets", self.wallets, 1..=WALLETS_MAX),
            self.sink.as_ref().and_then(|sink| Some(format!("sink: {}", sink.parse::<Address>().err()?))),
        ])?;
        Ok(branch.ok().flatten())
    }

    pub(crate) fn is_operator(&self, address: Address) -> bool {
        self.operators.iter().any(|operator| operator.parse() == Ok(address))
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
