//! What an amount is worth, and how many coins are paid for it. Integers only; USD and prices have 18 decimals.

use super::{USD_DECIMALS, Units, power_of_ten};
use alloy_primitives::U256;
use plugin_api::Wei;

/// What the operator keeps, in hundredths of a percent.
pub const SPREAD_BPS: u64 = 200;
/// How long a quote is valid.
pub const LIFE_S: i64 = 900;
/// How long after that a deposit still matches it, by the time of the deposit's block.
pub const GRACE_S: i64 = 600;
/// Bounds of a quote, in USD.
pub const USD_MIN: u64 = 1;
pub const USD_MAX: u64 = 10_000;
const ALL_BPS: u64 = 10_000;
const MICRO_DECIMALS: u8 = 12;

/// The value of so many units of an asset of which one is worth this.
pub fn usd_of(units: Units, decimals: u8, asset_usd: Units) -> Option<Units> {
    Some(Wei(units.0.checked_mul(asset_usd.0)? / power_of_ten(decimals)))
}

/// The price of a stablecoin.
pub fn one_usd() -> Units {
    Wei(power_of_ten(USD_DECIMALS))
}

/// Wei of the coin for this value at this price, less the spread, rounded down.
pub fn coins_for(usd: Units, price: Units, spread_bps: u64) -> Option<Wei> {
    let kept = U256::from(ALL_BPS.checked_sub(spread_bps)?);
    let paid = usd.0.checked_mul(power_of_ten(18))?.checked_mul(kept)?;
    paid.checked_div(U256::from(ALL_BPS).checked_mul(price.0)?).map(Wei)
}

/// Millionths of a whole of 18 decimals, rounded up; for sums in the database.
pub fn in_micro(amount: Units) -> i64 {
    let one = power_of_ten(MICRO_DECIMALS);
    let micro = amount.0.checked_add(one - U256::from(1)).map_or(U256::MAX, |sum| sum / one);
    i64::try_from(micro).unwrap_or(i64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::parse_units;

    /// The formula of the wire description, by hand: 10 USDC at 0.05 USD are 200 coins, less 2 %.
    #[test]
    fn coins_follow_from_value_and_price() {
        for (text, decimals) in [("10", 6), ("10", 18), ("10", 0), ("10", 30)] {
            let usd = usd_of(parse_units(text, decimals).unwrap(), decimals, one_usd()).unwrap();
            assert_eq!(usd.to_string(), "10000000000000000000");
            let price = parse_units("0.05", 18).unwrap();
            assert_eq!(coins_for(usd, price, 200).unwrap().to_string(), "196000000000000000000");
        }
        // Rounded down: 1 USD at 3 USD.
        let (usd, price) = (parse_units("1", 18).unwrap(), parse_units("3", 18).unwrap());
        assert_eq!(coins_for(usd, price, 200).unwrap().to_string(), "326666666666666666");
        assert_eq!(coins_for(usd, Wei::ZERO, 200), None);
        assert_eq!(coins_for(Wei(U256::MAX), price, 200), None);
        assert_eq!(usd_of(Wei(U256::MAX), 6, one_usd()), None);
        // 0.004 of a coin of 2,500.50 USD.
        let (units, asset_usd) = (parse_units("0.004", 18).unwrap(), parse_units("2500.5", 18).unwrap());
        assert_eq!(usd_of(units, 18, asset_usd), Some(parse_units("10.002", 18).unwrap()));
    }

    #[test]
    fn sums_round_up() {
        let micro = |wei: &str| in_micro(wei.parse().unwrap());
        assert_eq!((micro("0"), micro("1"), micro("1000000000000"), micro("1000000000001")), (0, 1, 1, 2));
        assert_eq!(in_micro(Wei(U256::MAX)), i64::MAX);
    }
}
