//! `[plugins.supply]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use crate::model::{ExcludedAddress, Issuance, Market, Plan, named_excluded, named_issuance};
use coin_market::NAMED_CHAIN;
use plugin_api::{Address, ConfigError, JsonSchema, Wei};
use serde::Deserialize;
use std::collections::BTreeSet;

/// More than any chain will have, so that no sum of amounts reaches 2^256.
const BLOCK_MAX: u64 = 1 << 53;
/// 10^18 coins.
const WEI_DIGITS_MAX: usize = 36;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Symbol of the coin, 1 to 12 capital letters and digits.
    pub symbol: String,
    /// How coins come into being. Without it: as on the named network where the chain is number 3961; elsewhere the routes respond 503.
    pub issuance: Option<Issuance>,
    /// Addresses whose coins do not circulate. Without it: those of the named network where the chain is number 3961, none elsewhere.
    pub excluded: Option<Vec<ExcludedAddress>>,
    /// Addresses whose coins nobody can ever spend: they count as burned.
    pub burn_addresses: Vec<Address>,
    pub market: Market,
}

impl Default for Config {
    fn default() -> Self {
        let mut dead = [0; 20];
        dead[18..].copy_from_slice(&[0xde, 0xad]);
        Self {
            symbol: "FMX".to_owned(),
            issuance: None,
            excluded: None,
            burn_addresses: vec![Address::ZERO, Address(dead)],
            market: Market::default(),
        }
    }
}

impl Config {
    /// What the snapshots are made by; reports all problems at once.
    pub(crate) fn plan(&self, chain_id: u64) -> Result<Option<Plan>, ConfigError> {
        let is_named = chain_id == NAMED_CHAIN;
        let issuance = self.issuance.clone().or_else(|| is_named.then(named_issuance));
        let excluded = self.excluded.clone().or_else(|| is_named.then(named_excluded)).unwrap_or_default();
        let is_symbol_char = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
        let is_symbol = (1..=12).contains(&self.symbol.len()) && self.symbol.chars().all(is_symbol_char);
        let mut problems = vec![
            (!is_symbol).then(|| format!("symbol `{}`: 1 to 12 capital letters and digits are needed", self.symbol)),
        ];
        let mut seen = BTreeSet::new();
        let addresses = self.burn_addresses.iter().chain(excluded.iter().map(|wallet| &wallet.address));
        problems.extend(addresses.map(|address| {
            let is_new = seen.insert(*address);
            (!is_new).then(|| {
                format!("{address} is named twice in burn_addresses and excluded: its coins would be subtracted twice")
            })
        }));
        problems.extend(issuance.iter().flat_map(problems_of));
        ConfigError::check(problems)?;
        let (symbol, burn_addresses) = (self.symbol.clone(), self.burn_addresses.clone());
        Ok(issuance.map(|issuance| Plan { symbol, chain_id, issuance, excluded, burn_addresses }))
    }
}

fn problems_of(issuance: &Issuance) -> Vec<Option<String>> {
    let amount = |key: &str, wei: Wei| {
        (wei.to_string().len() > WEI_DIGITS_MAX)
            .then(|| format!("issuance.{key}: an amount in wei has at most {WEI_DIGITS_MAX} digits"))
    };
    let is_endless = issuance.halving_blocks == 0 && issuance.reward_wei != Wei::ZERO;
    vec![
        ConfigError::outside("issuance.first_block", issuance.first_block, 1..=BLOCK_MAX),
        ConfigError::outside("issuance.halving_blocks", issuance.halving_blocks, 0..=BLOCK_MAX),
        ConfigError::outside("issuance.burn_block", issuance.burn_block, 0..=BLOCK_MAX),
        is_endless.then(|| "issuance.halving_blocks is 0: a reward that never ends has no maximum supply".to_owned()),
        amount("genesis_wei", issuance.genesis_wei),
        amount("earlier_base_wei", issuance.earlier_base_wei),
        amount("earlier_uncle_wei", issuance.earlier_uncle_wei),
        amount("earlier_nephew_wei", issuance.earlier_nephew_wei),
        amount("reward_wei", issuance.reward_wei),
        amount("burn_wei", issuance.burn_wei),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_problem_is_reported_at_once() {
        let issuance = Issuance { first_block: 0, halving_blocks: 0, ..named_issuance() };
        let treasury = named_excluded().remove(0);
        let config = Config {
            symbol: "fmx".into(),
            issuance: Some(issuance),
            excluded: Some(vec![
                treasury.clone(),
                treasury.clone(),
                ExcludedAddress { address: Address::ZERO, ..treasury },
            ]),
            ..Config::default()
        };
        let ConfigError(reason) = config.plan(1).unwrap_err();
        for part in [
            "symbol `fmx`",
            "issuance.first_block is 0",
            "has no maximum",
            "0x0000000000000000000000000000000000000000 is named",
        ] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        assert_eq!(reason.matches("is named twice").count(), 2, "{reason}");
    }

    #[test]
    fn only_the_named_network_has_a_plan_of_its_own() {
        let plan = Config::default().plan(NAMED_CHAIN).unwrap().unwrap();
        assert_eq!((plan.excluded.len(), plan.issuance.first_block), (9, 160_000));
        assert!(Config::default().plan(1).unwrap().is_none());
        let config = Config { issuance: Some(named_issuance()), ..Config::default() };
        assert_eq!(config.plan(1).unwrap().unwrap().excluded.len(), 0, "nobody else's wallets");
    }
}
