//! Where the coin is traded, and how an operator says it.

use super::{Pool, QuoteToken, dollars};
use alloy_primitives::{Address as Account, address};
use plugin_api::{Address, ConfigError, Wei};
use serde::{Deserialize, Serialize};

/// Number of the chain whose exchange the specification names.
pub const NAMED_CHAIN: u64 = 3961;
/// More decimals than any token has.
const DECIMALS_MAX: u8 = 36;

/// Where the coin is traded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Venue {
    pub factory: Address,
    /// The wrapped coin, of 18 decimals.
    pub wrapped: Address,
    pub quotes: Vec<QuoteToken>,
    /// In dollars, of 18 decimals.
    pub min_depth: Wei,
}

/// What a configuration says of a venue.
#[derive(Clone, Copy, Debug)]
pub struct VenueSettings<'s> {
    pub factory: Option<Address>,
    pub wrapped: Option<Address>,
    pub quotes: Option<&'s [QuoteToken]>,
    pub min_depth_usd: &'s str,
}

impl VenueSettings<'_> {
    /// The venue, if there is one; problems name keys of the table `market`. Without factory, wrapped and quotes it is that of the named
    /// network on its chain, and none elsewhere.
    pub fn venue(&self, chain_id: u64, problems: &mut Vec<Option<String>>) -> Option<Venue> {
        let min_depth = dollars(self.min_depth_usd);
        problems.push(not_dollars("market.min_depth_usd", self.min_depth_usd, min_depth));
        for quote in self.quotes.into_iter().flatten() {
            problems.extend(quote.problems("market.quotes"));
        }
        let min_depth = min_depth.unwrap_or_default();
        match (self.factory, self.wrapped, self.quotes) {
            (Some(factory), Some(wrapped), Some(quotes)) => {
                Some(Venue { factory, wrapped, quotes: quotes.to_vec(), min_depth })
            }
            (None, None, None) => (chain_id == NAMED_CHAIN).then(|| named_venue(min_depth)),
            _ => {
                problems.push(Some("market: factory, wrapped and quotes are set together, or none of them".to_owned()));
                None
            }
        }
    }
}

impl QuoteToken {
    /// What is wrong with it, as a value of this key.
    pub fn problems(&self, key: &str) -> [Option<String>; 2] {
        let decimals = format!("{key}: decimals of {}", self.symbol);
        [
            not_dollars(&format!("{key}: usd of {}", self.symbol), &self.usd, self.usd()),
            ConfigError::outside(&decimals, self.decimals, 0..=DECIMALS_MAX),
        ]
    }
}

impl Venue {
    /// The price of the deepest pool, if it is deep enough.
    pub fn primary(&self, pools: impl IntoIterator<Item = Pool>) -> Option<Pool> {
        pools.into_iter().max_by_key(|pool| pool.depth_usd).filter(|pool| pool.depth_usd >= self.min_depth)
    }
}

/// A problem where the text is no number of dollars.
pub fn not_dollars(key: &str, text: &str, read: Option<Wei>) -> Option<String> {
    read.is_none().then(|| format!("{key} `{text}`: a decimal number of at most 18 decimals is needed"))
}

/// A problem where the text is no URL.
pub fn not_url(key: &str, text: Option<&str>) -> Option<String> {
    let is_url = |url: &str| url.starts_with("https://") || url.starts_with("http://");
    text.filter(|url| !is_url(url)).map(|url| format!("{key} `{url}`: a URL that begins with https:// is needed"))
}

/// The exchange of the named network, where the coin is sold for a dollar-pegged and a manat-pegged token.
fn named_venue(min_depth: Wei) -> Venue {
    let at = |address: Account| Address(address.into_array());
    let quote = |symbol: &str, token: Account, usd: &str| QuoteToken {
        symbol: symbol.to_owned(),
        token: at(token),
        decimals: 6,
        usd: usd.to_owned(),
    };
    Venue {
        factory: at(address!("2034a8366fCdbfFCf4517D297f702aDDdba37040")),
        wrapped: at(address!("8a9Ae4D652cEba09Db8Ebf48D28C943b41B377Ae")),
        quotes: vec![
            quote("USDF", address!("Cd032A609e34121D1881E8DE7355b2c2c7092363"), "1"),
            // 1.70 of them are a dollar.
            quote("AZNT", address!("Fc81ad7c145B868ef0CEC8D7Ec881Ac93f724178"), "0.588235294117647058"),
        ],
        min_depth,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::Reserves;

    #[test]
    fn the_deepest_pool_counts_if_it_is_deep_enough() {
        let pool = |symbol: &str, depth: u64| Pool {
            quote: QuoteToken { symbol: symbol.into(), token: Address::ZERO, decimals: 6, usd: "1".into() },
            pair: Address::ZERO,
            reserves: Reserves { quote: Wei::ZERO, wrapped: Wei::ZERO, changed_at: 0 },
            price: Wei::from(1),
            usd: Wei::from(1),
            depth_usd: Wei::from(depth),
        };
        let venue =
            Venue { factory: Address::ZERO, wrapped: Address::ZERO, quotes: Vec::new(), min_depth: Wei::from(100) };
        let primary = |pools: &[Pool]| venue.primary(pools.to_vec()).map(|pool| pool.quote.symbol);
        assert_eq!(primary(&[pool("a", 99), pool("b", 100), pool("c", 50)]).as_deref(), Some("b"));
        assert_eq!(primary(&[pool("a", 99)]), None);
        assert_eq!(primary(&[]), None);
    }

    #[test]
    fn only_the_named_network_has_a_venue_of_its_own() {
        let settings = VenueSettings { factory: None, wrapped: None, quotes: None, min_depth_usd: "1000" };
        let mut problems = Vec::new();
        let venue = settings.venue(NAMED_CHAIN, &mut problems).unwrap();
        assert_eq!((venue.quotes.len(), venue.min_depth.in_coins()), (2, "1000.0".to_owned()));
        assert!(venue.quotes.iter().all(|quote| quote.usd().is_some()));
        assert!(settings.venue(1, &mut problems).is_none());
        assert!(problems.iter().all(Option::is_none), "{problems:?}");
        let half = VenueSettings { factory: Some(Address::ZERO), ..settings };
        assert!(half.venue(1, &mut problems).is_none());
        assert_eq!(problems.iter().flatten().count(), 1, "{problems:?}");
    }
}
