//! `[plugins.payin.chains.<name>]`: what is taken on a chain. Rule: a chain of another id than its name says is refused, since its tokens would
//! be worth nothing.

use super::chain::{TakenChain, Token, named};
use crate::config::Problems;
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
        if tokens.is_empty() {
            missing("tokens", "no token is named");
        }
        let name = self.name.clone().or(known.as_ref().map(|known| known.name.to_owned()));
        let explorer = self.explorer.clone().or(known.map(|known| known.explorer.to_owned()));
        Some(TakenChain {
            slug: slug.to_owned(),
            chain_id: chain_id?,
            name: name.unwrap_or_else(|| slug.to_owned()),
            explorer: explorer.unwrap_or_default().trim_end_matches('/').to_owned(),
            confirmations: confirmations?,
            deposit: deposit?,
            tokens,
        })
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
        let decimals = self.decimals.or(known.map(|token| token.decimals)).ok_or("decimals are missing")?;
        if decimals > DECIMALS_MAX {
            return Err("at most 36 decimals are taken");
        }
        Ok(Token { symbol, address: address.ok_or("the address is missing")?, decimals, exact: self.exact })
    }
}
