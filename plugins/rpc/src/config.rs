//! `[plugins.rpc]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::model::{METHODS, method};
use plugin_api::{ConfigError, JsonSchema, Wei};
use serde::Deserialize;

const MIB: u64 = 1024 * 1024;
/// The route's own limit of calls per minute: each weighs at least one, so that the limit by weight is reached first.
pub const CALLS_PER_MINUTE_MAX: u32 = 60_000;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The methods that are served, of those that the README lists: all of them by default.
    pub methods: Vec<String>,
    /// Weight of the calls that one client network may make in a minute: 1000 to 60000. The README has the weight of each method.
    pub weight_per_minute: u32,
    /// Requests that are answered at the same time: of one client network, and of all.
    pub requests_per_client_max: usize,
    pub requests_max: usize,
    /// Calls of one batch: 1 to 1000.
    pub batch_max: usize,
    /// Blocks of one `eth_getLogs`. More than `log_chunk_blocks` are asked for in several calls of the servers.
    pub log_blocks_max: u64,
    pub log_chunk_blocks: u64,
    /// Gas of one `eth_call`, `eth_estimateGas` or `eth_createAccessList`.
    pub call_gas_max: u64,
    /// Bytes of one answer; of a batch all results together.
    pub answer_bytes_max: u64,
    /// Bytes of answers that are kept.
    pub cache_bytes: usize,
    /// Transactions with a lower priority fee per gas are refused, because no signer of the chain includes them.
    pub tip_min_wei: Wei,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            methods: METHODS.iter().map(|method| method.name.to_owned()).collect(),
            weight_per_minute: 6000,
            requests_per_client_max: 16,
            requests_max: 128,
            batch_max: 100,
            log_blocks_max: 10_000,
            log_chunk_blocks: 2000,
            call_gas_max: 30_000_000,
            answer_bytes_max: 5 * MIB,
            cache_bytes: 32 * 1024 * 1024,
            tip_min_wei: Wei::from(1_000_000_000_u64),
        }
    }
}

impl Config {
    /// Reports all problems at once.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let unknown = self.methods.iter().find(|name| method(name).is_none());
        ConfigError::check([
            unknown.map(|name| format!("methods holds {name:?}, which this plugin does not serve")),
            self.methods.is_empty().then(|| "methods is empty: switch the plugin off instead".to_owned()),
            ConfigError::outside("weight_per_minute", self.weight_per_minute, 1000..=CALLS_PER_MINUTE_MAX),
            ConfigError::outside("requests_per_client_max", self.requests_per_client_max, 1..=10_000),
            ConfigError::outside("requests_max", self.requests_max, 1..=10_000),
            ConfigError::outside("batch_max", self.batch_max, 1..=1000),
            ConfigError::outside("log_blocks_max", self.log_blocks_max, 1..=1_000_000),
            ConfigError::outside("log_chunk_blocks", self.log_chunk_blocks, 1..=1_000_000),
            ConfigError::outside("call_gas_max", self.call_gas_max, 21_000..=10_000_000_000),
            ConfigError::outside("answer_bytes_max", self.answer_bytes_max, 65_536..=64 * MIB),
            ConfigError::outside("cache_bytes", self.cache_bytes, 0..=4096 * 1024 * 1024),
        ])
    }

    pub(crate) fn serves(&self, name: &str) -> bool {
        self.methods.iter().any(|method| method == name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn wrong_values_are_named() {
        assert!(Config::default().validate().is_ok());
        let with_methods = |methods: &[&str]| Config {
            methods: methods.iter().map(|name| (*name).to_owned()).collect(),
            ..Config::default()
        };
        for (config, part) in [
            (with_methods(&["eth_call", "debug_traceCall"]), "methods holds \"debug_traceCall\""),
            (with_methods(&[]), "methods is empty"),
            (Config { weight_per_minute: 10, ..Config::default() }, "weight_per_minute is 10"),
            (Config { batch_max: 0, ..Config::default() }, "batch_max is 0"),
            (Config { log_blocks_max: 0, ..Config::default() }, "log_blocks_max is 0"),
            (Config { call_gas_max: 1, ..Config::default() }, "call_gas_max is 1"),
            (Config { answer_bytes_max: 1, ..Config::default() }, "answer_bytes_max is 1"),
        ] {
            let ConfigError(reason) = config.validate().unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
    }
}
