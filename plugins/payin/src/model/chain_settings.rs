//! `[plugins.payin.chains.<name>]`: what is taken on a chain. Rule: a chain of another id than its name says is refused, since its tokens would
//! be worth nothing.

use super::{
    Problems,
    account::Account,
    chain::{NATIVE, NATIVE_DECIMALS, TakenChain, Token, named},
    feed::Feed,
};
use plugin_api::{Address, JsonSchema};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Token decimals that the arithmetic is made for.
const DECIMALS_MAX: u8 = 36;
/// Seven hours of the fastest of the named chains, Arbitrum.
const CONFIRMATIONS_MAX: u64 = 100_000;

/// What is taken on a chain.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSettings {
    /// The address that deposits are sent to. It is the operator's; the gateway has no key of it.
    pub deposit: Option<String>,
    /// Extended public key (`xpub…`) of an account, `m/44'/60'/n'`, that is used for nothing else: each quote of a token gets the next
    /// of its addresses `0/i`. Coins of the chain itself still go to `deposit`.
    pub xpub: Option<String>,
    /// Blocks until a deposit counts, its own included: 1 to 100000.
    pub confirmations: Option<u64>,
    /// Id of the chain, which `[chains]` must say too.
    pub chain_id: Option<u64>,
    /// Name for people.
    pub name: Option<String>,
    /// Block explorer for people, without a trailing slash.
    pub explorer: Option<String>,
    /// Tokens of which one unit is one USD, by their symbols.
    pub tokens: BTreeMap<String, TokenSettings>,
    /// The coins of the chain itself. Without it they are not taken.
    pub native: Option<NativeSettings>,
}

/// A token. Those of the seven named chains need nothing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokenSettings {
    pub address: Option<String>,
    /// 0 to 36.
    pub decimals: Option<u8>,
    /// Whether its events are believed without comparing them with balances, which needs no old state of the RPC servers.
    pub exact: bool,
    /// Where its price is read: below 0.98 USD it is paused.
    pub feed: Option<Feed>,
}

/// The coins of a chain.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NativeSettings {
    /// Their symbol. The seven named chains have one.
    #[serde(default)]
    pub symbol: Option<String>,
    /// Where their price is read.
    pub feed: Feed,
}

impl ChainSettings {
    /// The chain with the defaults of its name; `None` after a problem.
    pub fn taken(&self, slug: &str, chain_ids: &BTreeMap<String, u64>, problems: &mut Problems) -> Option<TakenChain> {
        let known = named(slug);
        let mut missing = |key: &str, reason: &str| problems.push(Some(format!("chains.{slug}.{key}: {reason}")));
        let deposit = match self.deposit.as_deref().map(str::parse::<Address>) {
            Some(Ok(address)) if address != Address::ZERO => Some(address),
            Some(Ok(_)) => None,
            Some(Err(error)) => {
                missing("deposit", error);
                return None;
            }
            None => None,
        };
        if deposit.is_none() {
            missing("deposit", "write the address that deposits are sent to");
        }
        let account = self.account().map_err(|error| missing("xpub", &error)).ok()?;
        let chain_id = self.chain_id.or(known.as_ref().map(|known| known.chain_id));
        match (chain_id, chain_ids.get(slug)) {
            (None, _) => missing("chain_id", "it is missing, and this is none of the seven named chains"),
            (_, None) => missing("chain_id", "the chain is missing in [chains]: name two RPC servers there"),
            (Some(expected), Some(id)) if expected != *id => {
                missing("chain_id", &format!("it is {expected} here and {id} in [chains]"));
            }
            _ => {}
        }
        let confirmations = self.confirmations.or(known.as_ref().map(|known| known.confirmations));
        if !confirmations.is_some_and(|count| (1..=CONFIRMATIONS_MAX).contains(&count)) {
            missing("confirmations", "1 to 100000 blocks are needed");
        }
        let mut tokens: Vec<Token> = known.as_ref().map(|known| known.tokens()).unwrap_or_default();
        for (symbol, settings) in &self.tokens {
            match settings.applied(symbol, &tokens) {
                Ok(token) => {
                    tokens.retain(|other| other.symbol != token.symbol);
                    tokens.push(token);
                }
                Err(reason) => missing(&format!("tokens.{symbol}"), reason),
            }
        }
        for (token, other) in pairs(&tokens).filter(|(token, other)| token.address == other.address) {
            // Each would find the other's deposits, and pay them again.
            missing(
                &format!("tokens.{}", token.symbol),
                &format!("{} has the same address: name one of them", other.symbol),
            );
        }
        let native = self.native_token(known.map(|known| known.native), &tokens);
        let native = native.unwrap_or_else(|reason| {
            missing("native.symbol", &reason);
            None
        });
        if tokens.is_empty() && self.native.is_none() {
            missing("tokens", "no token is named");
        }
        check_feeds(slug, tokens.iter().chain(&native), problems);
        let name = self.name.clone().or(known.as_ref().map(|known| known.name.to_owned()));
        let explorer = self.explorer.clone().or(known.map(|known| known.explorer.to_owned()));
        Some(TakenChain {
            slug: slug.to_owned(),
            chain_id: chain_id?,
            name: name.unwrap_or_else(|| slug.to_owned()),
            explorer: explorer.unwrap_or_default().trim_end_matches('/').to_owned(),
            confirmations: confirmations?,
            deposit: deposit?,
            account,
            tokens,
            native,
        })
    }

    fn account(&self) -> Result<Option<Account>, String> {
        self.xpub.as_deref().map(Account::parse).transpose()
    }

    /// The coins of the chain, if they are taken; `known` is the symbol of those of a named chain.
    fn native_token(&self, known: Option<&str>, tokens: &[Token]) -> Result<Option<Token>, String> {
        let Some(NativeSettings { symbol, feed }) = &self.native else { return Ok(None) };
        let missing = "it is missing, and this is none of the seven named chains";
        let symbol = symbol.as_deref().or(known).ok_or(missing)?.to_uppercase();
        if tokens.iter().any(|token| token.symbol == symbol) {
            return Err(format!("{symbol} is a token, too"));
        }
        let feed = Some(feed.clone());
        Ok(Some(Token { symbol, address: NATIVE, decimals: NATIVE_DECIMALS, exact: true, feed }))
    }
}

fn check_feeds<'t>(slug: &str, assets: impl Iterator<Item = &'t Token>, problems: &mut Problems) {
    for token in assets {
        let key = if token.is_native() { "native".to_owned() } else { format!("tokens.{}", token.symbol) };
        if let Some(feed) = &token.feed {
            feed.check(&format!("chains.{slug}.{key}.feed"), problems);
        }
    }
}

/// Each with each of those before it.
pub fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter().enumerate().flat_map(|(index, one)| all.iter().take(index).map(move |other| (one, other)))
}

impl TokenSettings {
    fn applied(&self, symbol: &str, known: &[Token]) -> Result<Token, &'static str> {
        // Variables of the environment have no case.
        let symbol = symbol.to_uppercase();
        let known = known.iter().find(|token| token.symbol == symbol);
        let address = match &self.address {
            Some(text) => Some(text.parse()?),
            None => known.map(|token| token.address),
        };
        if address == Some(NATIVE) {
            return Err("the zero address is no token");
        }
        let decimals = self.decimals.or(known.map(|token| token.decimals)).ok_or("decimals are missing")?;
        if decimals > DECIMALS_MAX {
            return Err("at most 36 decimals are taken");
        }
        Ok(Token {
            symbol,
            address: address.ok_or("the address is missing")?,
            decimals,
            exact: self.exact,
            feed: self.feed.clone(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::config::Config;
    use plugin_api::{ConfigError, handles::Environment};
    use serde_json::json;

    #[test]
    fn coins_need_a_feed_and_a_symbol_of_their_own() {
        let (address, ids) = (Address([1; 20]), BTreeMap::from([("dev".to_owned(), 7), ("polygon".to_owned(), 137)]));
        let quote = json!({ "symbol": "USDT", "token": address, "decimals": 6, "usd": "one" });
        let fallback = json!({ "pair": address, "wrapped": address, "quote": quote });
        let feed = json!({ "address": address, "max_age_s": 1, "fallback": fallback });
        let settings = json!({
            "deposit": address, "chain_id": 7, "confirmations": 1,
            "native": { "symbol": "usdx", "feed": { "address": address } },
            "tokens": {
                "USDX": { "address": address, "decimals": 6, "feed": feed },
                "NONE": { "address": NATIVE, "decimals": 6 },
            },
        });
        let settings: ChainSettings = serde_json::from_value(settings).unwrap();
        let mut problems = Problems::new();
        settings.taken("dev", &ids, &mut problems);
        let reason = problems.into_iter().flatten().collect::<Vec<_>>().join("\n");
        for part in [
            "chains.dev.native.symbol: USDX is a token, too",
            "chains.dev.tokens.NONE: the zero address is no token",
            "chains.dev.tokens.USDX.feed.max_age_s is 1",
            "chains.dev.tokens.USDX.feed.fallback.quote: usd of USDT `one`",
        ] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        assert!(serde_json::from_value::<ChainSettings>(json!({ "native": { "symbol": "ETH" } })).is_err(), "no feed");

        let settings = json!({ "deposit": address, "native": { "feed": { "address": address } } });
        let settings: ChainSettings = serde_json::from_value(settings).unwrap();
        let mut problems = Problems::new();
        let polygon = settings.taken("polygon", &ids, &mut problems).unwrap();
        assert!(problems.iter().all(Option::is_none), "{problems:?}");
        let assets: Vec<_> = polygon.assets().map(|token| (token.symbol.as_str(), token.is_native())).collect();
        assert_eq!(assets, [("USDC", false), ("USDT", false), ("POL", true)]);
        assert_eq!(polygon.with_feeds().map(|(token, _)| token.decimals).collect::<Vec<_>>(), [18]);
    }

    /// An address is given to one quote, and nobody but the operator can move what comes to it.
    #[test]
    fn an_account_is_one_chains_and_the_gateway_has_no_key_of_it() {
        // Account 1 of the seed of 32 bytes 0x77, its address 0/1, and the same key in a text that names no parent.
        let xpub = "xpub6C9j5N4Uw7GqnZR7sirnUrbag5qoeKNbvApei6xtfTHxNjhmPFmimbqMWzwj9nY8pbzqwB7rZtHksVZQR1ippLawh31r96AmfqJuwjCHWsK";
        let same = "xpub6BemYiVNp19a4zHkh6FTjt6jKZSdYAp7H6sBPJTkWuWsgVc2uvbKNd3Lx8rRHYzB94pU4xDyTPdE2kGV3L62yfZ5WJtComj5MmxVSHkX262";
        let second: Address = "0x34F56d9dA6DC8003AF939B0d4a2A3C9721A6e9E5".parse().unwrap();
        let (deposit, other) = (Address([1; 20]), Address([2; 20]));
        let eth = json!({ "deposit": deposit, "xpub": xpub });
        let dev = |xpub: &str| {
            let tokens = json!({ "USDX": { "address": other, "decimals": 6 } });
            json!({ "deposit": other, "xpub": xpub, "confirmations": 1, "chain_id": 31337, "tokens": tokens })
        };
        let host = |held: &[Address]| Environment {
            chain_ids: [("eth", 1), ("dev", 31337)].map(|(name, id)| (name.to_owned(), id)).into(),
            signer_addresses: held.iter().copied().collect(),
            ..Environment::default()
        };
        let config_of =
            |chains: serde_json::Value| -> Config { serde_json::from_value(json!({ "chains": chains })).unwrap() };
        for text in [xpub, same] {
            let two = config_of(json!({ "eth": eth, "dev": dev(text) }));
            let ConfigError(reason) = two.validate(&host(&[])).unwrap_err();
            assert!(reason.contains("chains.eth.xpub: it is that of dev"), "{reason}");
        }
        let config = config_of(json!({ "eth": eth }));
        config.validate(&host(&[other])).unwrap();
        for (held, key) in
            [(deposit, "chains.eth.deposit"), (second, "chains.eth.xpub: the gateway has the key of 0/1")]
        {
            let ConfigError(reason) = config.validate(&host(&[held])).unwrap_err();
            assert!(reason.contains(key) && reason.contains(&held.to_string()), "{key}: {reason}");
        }
    }
}
