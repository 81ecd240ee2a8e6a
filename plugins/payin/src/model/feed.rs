//! What an asset is worth by its price feed. The rules: integers only; a stablecoin that is below its bound, and an asset of which feed and
//! fallback differ, are paused; the fallback counts only near what the feed said within the last hour.

use super::{Problems, USD_DECIMALS, Units, power_of_ten};
use alloy_primitives::U256;
use coin_market::QuoteToken;
use plugin_api::{Address, ConfigError, JsonSchema, Wei};
use serde::Deserialize;

/// A feed tells a price at least once a day, or when it has moved.
const MAX_AGE_S: i64 = 90_000;
/// As the gateway's and the chain's clocks may differ.
const CLOCK_S: i64 = 60;
/// A stablecoin that is worth less is not taken: 0.98 USD.
const STABLE_BPS_MIN: u64 = 9_800;
/// What feed and fallback may differ by: 5 %.
const APART_BPS_MAX: u64 = 500;
const ALL_BPS: u64 = 10_000;
/// The fallback is compared with what the feed said no longer ago.
const LAST_FEED_S: i64 = 3600;
/// A price that was read longer ago is none.
pub const PRICE_AGE_MAX_S: i64 = 60;

/// The price feed of an asset: a contract with `latestRoundData()` and `decimals()`, on the asset's chain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feed {
    /// Of the price in USD.
    pub address: Address,
    /// What the feed said counts for so many seconds: 60 to 604800. It should be somewhat more than the feed's heartbeat.
    #[serde(default = "max_age_s")]
    pub max_age_s: i64,
    /// A pool of the asset with a stable token. While both can be read, and differ by more than 5 %, the asset is paused.
    #[serde(default)]
    pub fallback: Option<Fallback>,
}

/// A pool on the asset's chain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    pub pair: Address,
    /// The asset as the pool holds it, of 18 decimals.
    pub wrapped: Address,
    pub quote: QuoteToken,
}

fn max_age_s() -> i64 {
    MAX_AGE_S
}

impl Feed {
    /// What is wrong with it, as a value of this key.
    pub fn check(&self, key: &str, problems: &mut Problems) {
        problems.push(ConfigError::outside(&format!("{key}.max_age_s"), self.max_age_s, CLOCK_S..=604_800));
        if let Some(fallback) = &self.fallback {
            problems.extend(fallback.quote.problems(&format!("{key}.fallback.quote")));
        }
    }

    /// What the feed says now; otherwise why that is no price.
    pub fn price(&self, round: &FeedRound, decimals: u8, now_s: i64) -> Result<Units, String> {
        let FeedRound(_, answer, _, updated_at, _) = round;
        let is_positive = |answer: &U256| *answer > U256::ZERO;
        let answer = U256::from_str_radix(answer, 10).ok().filter(is_positive);
        let answer = answer.ok_or("its feed says no price above 0")?;
        let updated_at: i64 = updated_at.parse().map_err(|_| "its feed does not say when")?;
        if updated_at > now_s.saturating_add(CLOCK_S) {
            return Err("its feed is of the future".to_owned());
        }
        if now_s.saturating_sub(updated_at) > self.max_age_s {
            return Err("its feed is too old".to_owned());
        }
        let unit = U256::from(10).checked_pow(U256::from(decimals));
        let scaled = answer.checked_mul(power_of_ten(USD_DECIMALS));
        let price = unit.zip(scaled).map(|(unit, scaled)| scaled / unit).filter(is_positive);
        price.map(Wei).ok_or_else(|| "its feed says an absurd price".to_owned())
    }
}

/// Results of `latestRoundData()`: round, answer, start, update, and the round of the answer. Decimal numbers.
#[derive(Clone, Debug, Deserialize)]
pub struct FeedRound(pub String, pub String, pub String, pub String, pub String);

/// What the feed of an asset said earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastFeedPrice {
    pub usd: Units,
    /// When it was read.
    pub at: i64,
}

/// What follows from feed and fallback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriceAssessment {
    /// Quotes may use this price.
    Price(Units),
    /// Nothing is quoted and paid, and why.
    Paused(String),
    /// There is no price now, and why. A pause goes on.
    Unknown(String),
}

/// What the two sources say together; no fallback is configured where it is `None`.
pub fn assess(
    is_stable: bool,
    feed: Result<Units, String>,
    fallback: Option<Result<Units, String>>,
    (last, now_s): (Option<LastFeedPrice>, i64),
) -> PriceAssessment {
    match (feed, fallback) {
        (Ok(price), _) if is_stable && price.0 < stable_min() => {
            PriceAssessment::Paused(format!("one is worth {} USD by its feed", price.in_coins()))
        }
        (Ok(price), Some(Ok(other))) if are_apart(price, other) => PriceAssessment::Paused(format!(
            "its feed says {} USD and its fallback {} USD",
            price.in_coins(),
            other.in_coins()
        )),
        (Ok(price), _) => PriceAssessment::Price(price),
        // One token is one USD where its feed confirms that; nothing else does.
        (Err(error), Some(Ok(_))) if is_stable => PriceAssessment::Unknown(error),
        (Err(error), Some(Ok(other))) => match last {
            Some(last) if now_s.saturating_sub(last.at) > LAST_FEED_S => {
                PriceAssessment::Unknown(format!("{error}, and what it said is more than an hour old"))
            }
            Some(last) if are_apart(last.usd, other) => {
                PriceAssessment::Unknown(format!("{error}, and its fallback is more than 5 % off what it said"))
            }
            Some(_) => PriceAssessment::Price(other),
            None => PriceAssessment::Unknown(error),
        },
        (Err(error), Some(Err(other))) => PriceAssessment::Unknown(format!("{error}; {other}")),
        (Err(error), None) => PriceAssessment::Unknown(error),
    }
}

fn stable_min() -> U256 {
    power_of_ten(USD_DECIMALS) / U256::from(ALL_BPS) * U256::from(STABLE_BPS_MIN)
}

/// Whether the second differs by more than 5 % from the first.
fn are_apart(one: Units, other: Units) -> bool {
    let difference = if one > other { one.0 - other.0 } else { other.0 - one.0 };
    difference.saturating_mul(U256::from(ALL_BPS)) > one.0.saturating_mul(U256::from(APART_BPS_MAX))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::parse_units;

    const NOW: i64 = 1_767_225_600;

    fn usd(text: &str) -> Units {
        parse_units(text, USD_DECIMALS).unwrap()
    }

    #[test]
    fn a_round_is_a_price_while_it_is_new_and_above_zero() {
        let feed = Feed { address: Address::ZERO, max_age_s: 3600, fallback: None };
        let price = |answer: &str, updated_at: i64, decimals: u8| {
            let [one, answer] = ["1", answer].map(str::to_owned);
            feed.price(&FeedRound(one.clone(), answer, one.clone(), updated_at.to_string(), one), decimals, NOW)
        };
        assert_eq!(price("250012345678", NOW - 3600, 8).unwrap(), usd("2500.12345678"));
        assert_eq!(price("1", NOW + 60, 0).unwrap(), usd("1"));
        assert_eq!(price("1000000000000000000000", NOW, 21).unwrap(), usd("1"));
        for (answer, updated_at, decimals) in [
            ("250012345678", NOW - 3601, 8),
            ("250012345678", NOW + 61, 8),
            ("0", NOW, 8),
            ("-5", NOW, 8),
            ("", NOW, 8),
            ("1", NOW, 19),
            ("1", NOW, 255),
        ] {
            assert!(price(answer, updated_at, decimals).is_err(), "{answer} {updated_at} {decimals}");
        }
        let most = U256::MAX.to_string();
        assert!(price(&most, NOW, 8).is_err());
    }

    #[test]
    fn a_stablecoin_below_98_cents_is_paused() {
        let stable = |feed: &str| assess(true, Ok(usd(feed)), None, (None, NOW));
        assert_eq!(stable("0.98"), PriceAssessment::Price(usd("0.98")));
        assert!(matches!(stable("0.979999999999999999"), PriceAssessment::Paused(_)));
        // Another asset is not.
        assert_eq!(assess(false, Ok(usd("0.5")), None, (None, NOW)), PriceAssessment::Price(usd("0.5")));
        // A pool says nothing of it.
        let unread =
            assess(true, Err("no".into()), Some(Ok(usd("1"))), (Some(LastFeedPrice { usd: usd("1"), at: NOW }), NOW));
        assert!(matches!(unread, PriceAssessment::Unknown(_)), "{unread:?}");
    }

    #[test]
    fn a_fallback_counts_near_what_the_feed_said_within_the_hour() {
        let last = |price: &str, age_s: i64| Some(LastFeedPrice { usd: usd(price), at: NOW - age_s });
        let fallback = |price: &str, last: Option<LastFeedPrice>| {
            assess(false, Err("the feed is silent".into()), Some(Ok(usd(price))), (last, NOW))
        };
        for price in ["95", "100", "105"] {
            assert_eq!(fallback(price, last("100", 3600)), PriceAssessment::Price(usd(price)));
        }
        for (price, last) in
            [("94.999999", last("100", 10)), ("105.000001", last("100", 10)), ("100", last("100", 3601)), ("100", None)]
        {
            assert!(matches!(fallback(price, last), PriceAssessment::Unknown(_)), "{price} {last:?}");
        }
        // While the feed speaks it is the price, and a fallback that says something else pauses the asset.
        let both = |feed: &str, other: &str| assess(false, Ok(usd(feed)), Some(Ok(usd(other))), (None, NOW));
        assert_eq!(both("100", "105"), PriceAssessment::Price(usd("100")));
        assert!(matches!(both("100", "105.01"), PriceAssessment::Paused(_)));
        assert!(matches!(both("100", "94.99"), PriceAssessment::Paused(_)));
        assert_eq!(
            assess(false, Ok(usd("100")), Some(Err("none".into())), (None, NOW)),
            PriceAssessment::Price(usd("100"))
        );
    }
}
