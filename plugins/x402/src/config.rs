//! `[plugins.x402]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use alloy_primitives::U256;
use plugin_api::{ConfigError, JsonSchema, Wei};
use serde::Deserialize;

const DAY_S: i64 = 86_400;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Name of the voucher scheme in payments and terms.
    pub scheme: String,
    /// First part of the network's name; the chain id follows: `service:3961`.
    pub network: String,
    /// What is paid with: the chain's coin.
    pub asset: String,
    /// Name in the EIP-712 domain of the vault.
    pub domain_name: String,
    /// Version of x402 in the terms of a 402, 1 or 2, unless the request's query says `x402Version`.
    pub version: u8,
    /// What `ref` of a voucher must be: `any`, `match` (zero or the keccak-256 of the URL) or `required` (that hash).
    #[serde(rename = "ref")]
    pub reference: RefRule,
    /// What a payer may owe in all before it is settled, in wei. A single voucher may be for more.
    pub credit_max_wei: Wei,
    /// What settling one voucher costs in gas, in wei: `/api/x402/settle` takes no smaller ones, and nothing is sold while the
    /// facilitator cannot pay a whole batch.
    pub voucher_cost_wei: Wei,
    /// Gas for the signature check of a payer that is a contract: 50000 to 2000000.
    pub contract_gas: u64,
    /// Seconds that a voucher waits for its batch at most: 1 to 600.
    pub batch_s: u32,
    /// Vouchers of a batch, with which it is sent at once: 1 to 50.
    pub batch_size: u32,
    /// Vouchers that `/api/x402/settle` queues for one payer: 1 to 100000.
    pub queued_per_payer: u32,
    /// Days for which a payer is refused whose voucher failed on the chain by his own doing: 0 to 3650.
    pub refuse_days: u32,
}

/// What the member `ref` of a voucher must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RefRule {
    Any,
    Match,
    Required,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            scheme: "service-voucher".to_owned(),
            network: "service".to_owned(),
            asset: "FMX".to_owned(),
            domain_name: "ServiceX402".to_owned(),
            version: 1,
            reference: RefRule::Any,
            credit_max_wei: Wei(U256::from(1_000_000_000_000_000_000_u64)),
            voucher_cost_wei: Wei(U256::from(140_000_000_000_000_u64)),
            contract_gas: 300_000,
            batch_s: 30,
            batch_size: 50,
            queued_per_payer: 500,
            refuse_days: 30,
        }
    }
}

impl Config {
    /// For how long a payer is refused who broke his promise.
    pub(crate) fn refused_s(&self) -> i64 {
        i64::from(self.refuse_days) * DAY_S
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let names = [
            ("scheme", &self.scheme),
            ("network", &self.network),
            ("asset", &self.asset),
            ("domain_name", &self.domain_name),
        ];
        let is_word =
            |text: &str| !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_graphic());
        let unnamed = names.into_iter().map(|(key, name)| {
            (!is_word(name)).then(|| format!("{key} is `{name}`: 1 to 64 letters without spaces are needed"))
        });
        let colon = self.network.contains(':').then(|| "network holds a colon: the chain id is added to it".to_owned());
        let numbers = [
            colon,
            ConfigError::outside("version", self.version, 1..=2),
            ConfigError::outside("contract_gas", self.contract_gas, 50_000..=2_000_000),
            ConfigError::outside("batch_s", self.batch_s, 1..=600),
            ConfigError::outside("batch_size", self.batch_size, 1..=50),
            ConfigError::outside("queued_per_payer", self.queued_per_payer, 1..=100_000),
            ConfigError::outside("refuse_days", self.refuse_days, 0..=3650),
        ];
        ConfigError::check(unnamed.chain(numbers))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        assert!(Config::default().validate().is_ok());
        let config = Config {
            scheme: String::new(),
            network: "service:1".into(),
            version: 3,
            contract_gas: 1,
            batch_s: 0,
            batch_size: 51,
            queued_per_payer: 0,
            refuse_days: 4000,
            ..Config::default()
        };
        let ConfigError(reason) = config.validate().unwrap_err();
        for part in ["scheme is ``", "a colon", "version is 3", "contract_gas is 1", "batch_s is 0", "batch_size is 51"]
        {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        assert!(reason.contains("queued_per_payer is 0") && reason.contains("refuse_days is 4000"), "{reason}");
    }

    #[test]
    fn names_are_words_of_64_letters_at_most() {
        let with = |asset: &str| Config { asset: asset.to_owned(), ..Config::default() }.validate();
        assert!(with(&"a".repeat(64)).is_ok());
        for wrong in ["a".repeat(65), "a b".to_owned(), "\u{e9}a".to_owned()] {
            assert!(with(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_rule_for_references_is_one_of_three() {
        for (text, rule) in [("any", RefRule::Any), ("match", RefRule::Match), ("required", RefRule::Required)] {
            let config: Config = serde_json::from_value(serde_json::json!({ "ref": text })).unwrap();
            assert_eq!(config.reference, rule);
        }
        assert!(serde_json::from_value::<Config>(serde_json::json!({ "ref": "some" })).is_err());
    }
}
