//! One pool. The rule: a price that does not follow from its reserves in integers is none.

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

/// A pool's reserves at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserves {
    pub quote: Wei,
    /// Of the coin, wrapped.
    pub wrapped: Wei,
    /// When they changed last, in Unix seconds.
    pub changed_at: u32,
}

/// What a pool says. Amounts in dollars, and its price, have 18 decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    pub quote: QuoteToken,
    pub pair: Address,
    pub reserves: Reserves,
    /// What one coin costs in the quote token.
    pub price: Wei,
    /// What one coin costs in dollars.
    pub usd: Wei,
    /// Twice the side of the quote token.
    pub depth_usd: Wei,
}

impl QuoteToken {
    /// Of 18 decimals; none where the text is no such number.
    pub fn usd(&self) -> Option<Wei> {
        dollars(&self.usd)
    }

    /// What a pool with these reserves says; none of an empty one.
    pub fn pool(&self, pair: Address, reserves: Reserves) -> Option<Pool> {
        let (usd, scale) = (self.usd()?.0, U256::from(SCALE));
        let unit = U256::from(10).checked_pow(U256::from(self.decimals))?;
        let in_quote = reserves.quote.0.checked_mul(scale)?.checked_mul(scale)?;
        let in_quote = in_quote.checked_div(unit.checked_mul(reserves.wrapped.0)?)?;
        let price = in_quote.checked_mul(usd)?.checked_div(scale)?;
        let depth = reserves.quote.0.checked_mul(U256::from(2))?.checked_mul(usd)?.checked_div(unit)?;
        (price > U256::ZERO).then(|| Pool {
            quote: self.clone(),
            pair,
            reserves,
            price: Wei(in_quote),
            usd: Wei(price),
            depth_usd: Wei(depth),
        })
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

    fn reserves(quote: Wei, wrapped: Wei) -> Reserves {
        Reserves { quote, wrapped, changed_at: 7 }
    }

    #[test]
    fn the_price_is_the_ratio_of_the_reserves() {
        // 1,500 USDF and 6,000 coins.
        let held = reserves(wei("1500000000"), wei("6000000000000000000000"));
        let price = usdf("1", 6).pool(Address::ZERO, held).unwrap();
        assert_eq!((price.usd.in_coins(), price.depth_usd.in_coins()), ("0.25".into(), "3000.0".into()));
        // A token of 1/1.70 dollars.
        let price = usdf("0.588235294117647058", 6).pool(Address::ZERO, held).unwrap();
        assert_eq!((price.price.in_coins(), price.usd.in_coins()), ("0.25".into(), "0.147058823529411764".into()));
        // As many decimals as the coin.
        let held = reserves(wei("3"), wei("4"));
        assert_eq!(usdf("1", 18).pool(Address::ZERO, held).unwrap().usd.in_coins(), "0.75");
    }

    #[test]
    fn an_empty_pool_has_no_price_and_no_reserves_are_too_large() {
        let pool = |quote, wrapped| usdf("1", 6).pool(Address::ZERO, reserves(quote, wrapped));
        assert_eq!(pool(Wei::ZERO, wei("1")), None);
        assert_eq!(pool(wei("1"), Wei::ZERO), None);
        let most = Wei(U256::from(1).checked_shl(112).unwrap() - U256::from(1));
        assert!(pool(most, most).is_some() && pool(wei("1"), most).is_none());
        let _ = pool(most, wei("1"));
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
