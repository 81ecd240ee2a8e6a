//! The chains on which deposits are taken. Seven have their facts here; an operator may add others.

use super::{Problems, account::Account, feed::Feed};
use alloy_primitives::address;
use plugin_api::Address;
use std::collections::BTreeSet;

/// As the token of a chain's own coins.
pub const NATIVE: Address = Address::ZERO;
/// Decimals of the coins of every chain.
pub const NATIVE_DECIMALS: u8 = 18;

/// A chain of the configuration, with the defaults of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenChain {
    /// Its name in the configuration, and on the wire.
    pub slug: String,
    pub chain_id: u64,
    pub name: String,
    /// Without a trailing slash; empty when none is known.
    pub explorer: String,
    pub confirmations: u64,
    pub deposit: Address,
    /// Gives each quote of a token an address of its own.
    pub account: Option<Account>,
    pub tokens: Vec<Token>,
    /// The coins of the chain itself, if they are taken.
    pub native: Option<Token>,
}

/// A token of which one is one USD, or the coins of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub symbol: String,
    pub address: Address,
    pub decimals: u8,
    /// Whether its events are believed without a look at balances.
    pub exact: bool,
    /// Where its price is read. A token without one counts as one USD.
    pub feed: Option<Feed>,
}

impl Token {
    pub fn is_native(&self) -> bool {
        self.address == NATIVE
    }
}

impl TakenChain {
    /// Tokens, and the coins of the chain.
    pub fn assets(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().chain(&self.native)
    }

    pub fn token(&self, symbol: &str) -> Option<&Token> {
        self.assets().find(|token| token.symbol.eq_ignore_ascii_case(symbol))
    }

    /// Problems of addresses of which the gateway has a key.
    pub fn held_by(&self, held: &BTreeSet<Address>) -> Problems {
        let Self { slug, deposit, account, .. } = self;
        let is_shared_held = held.contains(deposit);
        let own = account.as_ref().and_then(|account| account.find_held(held));
        vec![
            is_shared_held
                .then(|| format!("chains.{slug}.deposit: the gateway has the key of {deposit}: name another")),
            own.map(|(index, address)| {
                format!("chains.{slug}.xpub: the gateway has the key of 0/{index}, {address}: use another account")
            }),
        ]
    }

    /// Whether each quote of it has an address of its own.
    pub fn gives_address(&self, token: &Token) -> bool {
        self.account.is_some() && !token.is_native()
    }

    /// The assets whose price is read.
    pub fn with_feeds(&self) -> impl Iterator<Item = (&Token, &Feed)> {
        self.assets().filter_map(|token| Some((token, token.feed.as_ref()?)))
    }
}

/// A chain whose facts are known.
pub struct NamedChain {
    slug: &'static str,
    pub chain_id: u64,
    pub name: &'static str,
    pub confirmations: u64,
    pub explorer: &'static str,
    /// Symbol of its own coins.
    pub native: &'static str,
    stable_decimals: u8,
    usdc: alloy_primitives::Address,
    usdt: alloy_primitives::Address,
}

const NAMED: [NamedChain; 7] = [
    NamedChain {
        slug: "eth",
        chain_id: 1,
        name: "Ethereum",
        confirmations: 6,
        explorer: "https://etherscan.io",
        native: "ETH",
        stable_decimals: 6,
        usdc: address!("A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
        usdt: address!("dAC17F958D2ee523a2206206994597C13D831ec7"),
    },
    NamedChain {
        slug: "bsc",
        chain_id: 56,
        name: "BNB Smart Chain",
        confirmations: 12,
        explorer: "https://bscscan.com",
        native: "BNB",
        stable_decimals: 18,
        usdc: address!("8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"),
        usdt: address!("55d398326f99059fF775485246999027B3197955"),
    },
    NamedChain {
        slug: "base",
        chain_id: 8453,
        name: "Base",
        confirmations: 20,
        explorer: "https://basescan.org",
        native: "ETH",
        stable_decimals: 6,
        usdc: address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
        usdt: address!("fde4C96c8593536E31F229EA8f37b2ADa2699bb2"),
    },
    NamedChain {
        slug: "arbitrum",
        chain_id: 42161,
        name: "Arbitrum One",
        confirmations: 20,
        explorer: "https://arbiscan.io",
        native: "ETH",
        stable_decimals: 6,
        usdc: address!("af88d065e77c8cC2239327C5EDb3A432268e5831"),
        usdt: address!("Fd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9"),
    },
    NamedChain {
        slug: "polygon",
        chain_id: 137,
        name: "Polygon",
        confirmations: 60,
        explorer: "https://polygonscan.com",
        native: "POL",
        stable_decimals: 6,
        usdc: address!("3c499c542cEF5E3811e1192ce70d8cC03d5c3359"),
        usdt: address!("c2132D05D31c914a87C6611C10748AEb04B58e8F"),
    },
    NamedChain {
        slug: "optimism",
        chain_id: 10,
        name: "Optimism",
        confirmations: 20,
        explorer: "https://optimistic.etherscan.io",
        native: "ETH",
        stable_decimals: 6,
        usdc: address!("0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
        usdt: address!("94b008aA00579c1307B0EF2c499aD98a8ce58e58"),
    },
    NamedChain {
        slug: "avalanche",
        chain_id: 43114,
        name: "Avalanche C-Chain",
        confirmations: 6,
        explorer: "https://snowtrace.io",
        native: "AVAX",
        stable_decimals: 6,
        usdc: address!("B97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"),
        usdt: address!("9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7"),
    },
];

/// The facts of one of the seven chains.
pub fn named(slug: &str) -> Option<&'static NamedChain> {
    NAMED.iter().find(|chain| chain.slug == slug)
}

impl NamedChain {
    pub fn tokens(&self) -> Vec<Token> {
        let token = |symbol: &str, address: alloy_primitives::Address| Token {
            symbol: symbol.to_owned(),
            address: Address(address.into_array()),
            decimals: self.stable_decimals,
            exact: false,
            feed: None,
        };
        vec![token("USDC", self.usdc), token("USDT", self.usdt)]
    }
}
