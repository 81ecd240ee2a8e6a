//! What a pool says of the coin's price. The rule: integers only; a price that nobody can trade at is none.

use alloy_primitives::{U256, utils::parse_ether};
use plugin_api::{Address, JsonSchema, Wei};
use serde::{Deserialize, Serialize};

/// Decimals of prices, in dollars.
const SCALE: u64 = 1_000_000_000_000_000_000;

/// A token that coins are sold for, and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuoteToken {
    pub symbol: String,
    pub token: Address,
    /// 0 to 36.
    pub decimals: u8,
    /// What one of it is worth, in US dollars: a decimal number of at most 18 decimals.
    pub usd: String,
}

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

/// A pool's reserves at a block.
#[derive(Clone, Copy, Debug)]
pub struct Reserves {
    pub quote: Wei,
    pub wrapped: Wei,
}

/// What a pool says. Amounts in dollars have 18 decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolPrice {
    pub quote: String,
    pub pair: Address,
    /// Of one coin.
    pub usd: Wei,
    /// Twice the side of the quote token.
    pub depth_usd: Wei,
}

/// What the venue said at a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarketReading {
    /// As it was configured then: what another one said is not served.
    pub venue: Venue,
    pub block: u64,
    /// Unix milliseconds.
    pub read_at: i64,
    /// None where no pool is deep enough.
    pub price: Option<PoolPrice>,
}

impl QuoteToken {
    /// Of 18 decimals; none where the text is no such number.
    pub fn usd(&self) -> Option<Wei> {
        dollars(&self.usd)
    }

    /// What a pool with these reserves says; none of an empty one.
    pub fn price(&self, pair: Address, reserves: Reserves) -> Option<PoolPrice> {
        let (usd, scale) = (self.usd()?.0, U256::from(SCALE));
        let unit = U256::from(10).checked_pow(U256::from(self.decimals))?;
        let in_quote = reserves.quote.0.checked_mul(scale)?.checked_mul(scale)?;
        let in_quote = in_quote.checked_div(unit.checked_mul(reserves.wrapped.0)?)?;
        let price = in_quote.checked_mul(usd)?.checked_div(scale)?;
        let depth = reserves.quote.0.checked_mul(U256::from(2))?.checked_mul(usd)?.checked_div(unit)?;
        (price > U256::ZERO).then(|| PoolPrice {
            quote: self.symbol.clone(),
            pair,
            usd: Wei(price),
            depth_usd: Wei(depth),
        })
    }
}

impl Venue {
    /// The price of the deepest pool, if it is deep enough.
    pub fn primary(&self, pools: impl IntoIterator<Item = PoolPrice>) -> Option<PoolPrice> {
        pools.into_iter().max_by_key(|pool| pool.depth_usd).filter(|pool| pool.depth_usd >= self.min_depth)
    }
}

/// A number of dollars with at most 18 decimals, as one with exactly 18.
pub fn dollars(text: &str) -> Option<Wei> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str, most: usize| {
        (1..=most).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    (is_number(whole, 18) && is_number(fraction, 18)).then(|| parse_ether(text).ok().map(Wei)).flatten()
}

/// What so many coins are worth at this price.
pub fn value(price_usd: Wei, coins: Wei) -> Option<Wei> {
    price_usd.0.checked_mul(coins.0).map(|product| Wei(product / U256::from(SCALE)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn wei(text: &str) -> Wei {
        text.parse().unwrap()
    }

    fn usdf(usd: &str, decimals: u8) -> QuoteToken {
        QuoteToken { symbol: "USDF".into(), token: Address([1; 20]), decimals, usd: usd.into() }
    }

    #[test]
    fn the_price_is_the_ratio_of_the_reserves() {
        // 1,500 USDF and 6,000 coins.
        let reserves = Reserves { quote: wei("1500000000"), wrapped: wei("6000000000000000000000") };
        let price = usdf("1", 6).price(Address::ZERO, reserves).unwrap();
        assert_eq!((price.usd.in_coins(), price.depth_usd.in_coins()), ("0.25".into(), "3000.0".into()));
        // A token of 1/1.70 dollars.
        let price = usdf("0.588235294117647058", 6).price(Address::ZERO, reserves).unwrap();
        assert_eq!(price.usd.in_coins(), "0.147058823529411764");
        // As many decimals as the coin.
        let reserves = Reserves { quote: wei("3"), wrapped: wei("4") };
        assert_eq!(usdf("1", 18).price(Address::ZERO, reserves).unwrap().usd.in_coins(), "0.75");
    }

    #[test]
    fn an_empty_pool_has_no_price_and_no_reserves_are_too_large() {
        let pool = |quote, wrapped| usdf("1", 6).price(Address::ZERO, Reserves { quote, wrapped });
        assert_eq!(pool(Wei::ZERO, wei("1")), None);
        assert_eq!(pool(wei("1"), Wei::ZERO), None);
        let most = Wei(U256::from(1).checked_shl(112).unwrap() - U256::from(1));
        assert!(pool(most, most).is_some() && pool(wei("1"), most).is_none());
        let _ = pool(most, wei("1"));
    }

    #[test]
    fn the_deepest_pool_counts_if_it_is_deep_enough() {
        let pool = |quote: &str, depth: u64| PoolPrice {
            quote: quote.into(),
            pair: Address::ZERO,
            usd: Wei::from(1),
            depth_usd: Wei::from(depth),
        };
        let venue =
            Venue { factory: Address::ZERO, wrapped: Address::ZERO, quotes: Vec::new(), min_depth: Wei::from(100) };
        let primary = |pools: &[PoolPrice]| venue.primary(pools.to_vec()).map(|pool| pool.quote);
        assert_eq!(primary(&[pool("a", 99), pool("b", 100), pool("c", 50)]).as_deref(), Some("b"));
        assert_eq!(primary(&[pool("a", 99)]), None);
        assert_eq!(primary(&[]), None);
    }

    #[test]
    fn dollars_are_decimal_numbers() {
        assert_eq!(dollars("1000").unwrap().in_coins(), "1000.0");
        assert_eq!(dollars("0.000000000000000001"), Some(Wei::from(1)));
        for text in ["", ".", "1.", ".5", "-1", "1e3", "1,000", "0.0000000000000000001", "1.2.3", " 1"] {
            assert_eq!(dollars(text), None, "{text:?}");
        }
    }
}
