//! `[plugins.payin]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently; a chain of another
//! id than its name says is refused, since its tokens would be worth nothing.

use crate::model::{
    ChainSettings, Dust, Market, MarketSettings, Problems, TakenChain, USD_DECIMALS, Units, pairs, parse_units,
};
use plugin_api::{Address, ConfigError, JsonSchema, Wei, chain::MAIN, handles::Environment};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Every key has a default, so the section may be missing: then nothing is quoted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// USD for one coin, as a decimal text such as "0.05". Without it quotes are refused.
    pub price_usd: Option<String>,
    /// When a quote's amount gets a few units more, so that no other quote has it: `collision`, or `always`.
    pub dust: Dust,
    /// The most that one payout may be, in wei. Without the three caps quotes are refused.
    pub payout_max_wei: Option<Wei>,
    /// What all payouts of an hour may be, in wei.
    pub hour_max_wei: Option<Wei>,
    /// What all payouts of a day of UTC may be, in wei.
    pub day_max_wei: Option<Wei>,
    /// Open quotes for one recipient, of one client's network: 1 to 1000. Of all networks together 20 times as many.
    pub open_per_recipient: i64,
    /// Open quotes of one client's network: 1 to 100000. An IPv6 /48 has four times as many.
    pub open_per_network: i64,
    /// USD of all open quotes: 1 to 1000000000.
    pub open_usd_max: i64,
    /// USD of the open quotes of one client's network, or IPv6 /48, so that none takes all of the others: 1 to 1000000000.
    pub open_usd_per_network: i64,
    /// Open quotes of a chain that have an address of their own: 1 to 1000. One request for events names all of them.
    pub own_addresses_max: i64,
    /// Addresses that see deposits, resolve those that match no quote, and pause. While there are none, nobody does.
    pub operators: Vec<String>,
    /// The chains on which deposits are taken, by their names in `[chains]`. `eth`, `bsc`, `base`, `arbitrum`, `polygon`, `optimism` and
    /// `avalanche` need `deposit` only.
    pub chains: BTreeMap<String, ChainSettings>,
    /// Where the reference price of the coin is read.
    pub market: MarketSettings,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            price_usd: None,
            dust: Dust::default(),
            payout_max_wei: None,
            hour_max_wei: None,
            day_max_wei: None,
            open_per_recipient: 5,
            open_per_network: 30,
            open_usd_max: 100_000,
            open_usd_per_network: 20_000,
            own_addresses_max: 200,
            operators: Vec::new(),
            chains: BTreeMap::new(),
            market: MarketSettings::default(),
        }
    }
}

/// The caps of payouts, in wei.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    pub payout: Wei,
    pub hour: Wei,
    pub day: Wei,
}

/// What the configuration means.
#[derive(Debug)]
pub struct Settings {
    pub price: Option<Units>,
    pub chains: Vec<TakenChain>,
    pub market: Market,
    pub operators: BTreeSet<Address>,
}

impl Config {
    /// All three, or none: without one of them nothing is paid.
    pub(crate) fn caps(&self) -> Option<Caps> {
        Some(Caps { payout: self.payout_max_wei?, hour: self.hour_max_wei?, day: self.day_max_wei? })
    }

    /// Reports all problems at once.
    pub(crate) fn validate(&self, host: &Environment) -> Result<Settings, ConfigError> {
        let chain_ids = &host.chain_ids;
        let (mut problems, mut operators) = (Problems::new(), BTreeSet::new());
        for text in &self.operators {
            match text.parse() {
                Ok(address) => drop(operators.insert(address)),
                Err(error) => problems.push(Some(format!("operators: `{text}`: {error}"))),
            }
        }
        let price = self.price_usd.as_deref().map(|text| parse_units(text, USD_DECIMALS));
        if let Some(Err(error)) = &price {
            problems.push(Some(format!("price_usd: {error}")));
        }
        problems.extend([
            ConfigError::outside("open_per_recipient", self.open_per_recipient, 1..=1000),
            ConfigError::outside("open_per_network", self.open_per_network, 1..=100_000),
            ConfigError::outside("open_usd_max", self.open_usd_max, 1..=1_000_000_000),
            ConfigError::outside("open_usd_per_network", self.open_usd_per_network, 1..=1_000_000_000),
            ConfigError::outside("own_addresses_max", self.own_addresses_max, 1..=1000),
            self.caps().filter(|caps| caps.payout > caps.hour || caps.hour > caps.day).map(|_| {
                "payout_max_wei, hour_max_wei, day_max_wei: a payout of the allowed size would never fit".to_owned()
            }),
        ]);
        let taken = self.chains.iter().filter_map(|(slug, chain)| chain.taken(slug, chain_ids, &mut problems));
        let chains: Vec<TakenChain> = taken.collect();
        for (chain, other) in pairs(&chains).filter(|(chain, other)| chain.chain_id == other.chain_id) {
            // Both would find each deposit, and pay it twice.
            let (slug, other, id) = (&chain.slug, &other.slug, chain.chain_id);
            problems.push(Some(format!("chains.{slug}.chain_id: it is {id}, as that of {other}: name one of them")));
        }
        for (chain, other) in pairs(&chains) {
            // An address is one chain's: the keys of a wallet are the same everywhere.
            if chain.account.is_some() && chain.account == other.account {
                let (slug, other) = (&chain.slug, &other.slug);
                problems.push(Some(format!("chains.{slug}.xpub: it is that of {other}: use another account")));
            }
        }
        problems.extend(chains.iter().flat_map(|chain| chain.held_by(&host.signer_addresses)));
        let chain_id = chain_ids.get(MAIN).copied().unwrap_or_default();
        let market = self.market.market(chain_id, chain_ids, &mut problems);
        ConfigError::check(problems)?;
        Ok(Settings { price: price.and_then(Result::ok), chains, market, operators })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn host(chain_ids: &[(&str, u64)]) -> Environment {
        let named = |(name, id): &(&str, u64)| ((*name).to_owned(), *id);
        Environment { chain_ids: chain_ids.iter().map(named).collect(), ..Environment::default() }
    }

    fn ids() -> Environment {
        host(&[("eth", 1), ("base", 84532), ("dev", 31337)])
    }

    fn problems(config: serde_json::Value) -> String {
        let config: Config = serde_json::from_value(config).unwrap();
        config.validate(&ids()).unwrap_err().0
    }

    #[test]
    fn a_named_chain_needs_an_address_only() {
        let deposit = "0x1111111111111111111111111111111111111111";
        let config = json!({ "price_usd": "0.05", "chains": { "eth": { "deposit": deposit,
            "tokens": { "usdt": { "exact": true } } } } });
        let config: Config = serde_json::from_value(config).unwrap();
        let settings = config.validate(&ids()).unwrap();
        assert_eq!(settings.price.unwrap().to_string(), "50000000000000000");
        let eth = &settings.chains[0];
        assert_eq!((eth.chain_id, eth.confirmations, eth.name.as_str()), (1, 6, "Ethereum"));
        let tokens: Vec<_> =
            eth.tokens.iter().map(|token| (token.symbol.as_str(), token.decimals, token.exact)).collect();
        assert_eq!(tokens, [("USDC", 6, false), ("USDT", 6, true)]);
        assert_eq!(eth.tokens[1].address.to_string(), "0xdAC17F958D2ee523a2206206994597C13D831ec7");
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let reason = problems(json!({
            "price_usd": "5 USD", "operators": ["me"], "open_per_recipient": 0, "open_usd_max": 0, "open_usd_per_network": 0,
            "payout_max_wei": "2", "hour_max_wei": "1", "day_max_wei": "3",
            "chains": {
                "base": { "deposit": "0x1111111111111111111111111111111111111111" },
                "dev": { "deposit": "0x0000000000000000000000000000000000000000", "confirmations": 0,
                    "tokens": { "USDX": { "decimals": 6 } } },
                "bsc": { "deposit": "0x12" },
            },
        }));
        for part in [
            "price_usd",
            "operators: `me`",
            "open_per_recipient is 0",
            "open_usd_max is 0",
            "open_usd_per_network is 0",
            "would never fit",
            "chains.base.chain_id: it is 8453 here and 84532 in [chains]",
            "chains.dev.deposit",
            "chains.dev.chain_id",
            "chains.dev.confirmations",
            "chains.dev.tokens.USDX: the address is missing",
            "chains.bsc.deposit",
        ] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
    }

    /// Two names for one would pay a deposit twice.
    #[test]
    fn a_chain_and_a_token_have_one_name() {
        let (deposit, token) = (Address([1; 20]), "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");
        let usdx = json!({ "address": token, "decimals": 6 });
        let dev = json!({ "deposit": deposit, "confirmations": 1, "chain_id": 1, "tokens": { "USDX": usdx } });
        let mut config = json!({ "chains": { "eth": { "deposit": deposit, "tokens": { "USDX": usdx } }, "dev": dev } });
        let config_of = |config: &serde_json::Value| serde_json::from_value::<Config>(config.clone()).unwrap();
        let reason = config_of(&config).validate(&host(&[("eth", 1), ("dev", 1)])).unwrap_err().0;
        for part in
            ["chains.eth.tokens.USDX: USDC has the same address", "chains.eth.chain_id: it is 1, as that of dev"]
        {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        // One token on each of two chains is no problem.
        config["chains"]["eth"]["tokens"] = json!({});
        config["chains"]["dev"]["chain_id"] = json!(31337);
        config_of(&config).validate(&ids()).unwrap();
    }

    #[test]
    fn a_price_is_a_text() {
        assert!(serde_json::from_value::<Config>(json!({ "price_usd": 0.05 })).is_err());
    }
}
