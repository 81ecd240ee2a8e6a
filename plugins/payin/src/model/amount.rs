//! Amounts of tokens as texts and as units, and the few units more by which quotes differ. Rule: no float anywhere.

use super::Units;
use alloy_primitives::U256;
use plugin_api::JsonSchema;
use serde::{Deserialize, Deserializer, de};
use std::{borrow::Cow, fmt};

/// Decimals of prices and of USD.
pub const USD_DECIMALS: u8 = 18;
/// Digits before the decimal point.
const INTEGER_DIGITS_MAX: usize = 15;
/// Wallets keep so many decimals of an amount that somebody types.
const WALLET_DECIMALS: u8 = 6;
const CENT_DECIMALS: u8 = 2;
/// Dust is at most this part of the amount: 0.1 %.
const DUST_PART: u64 = 1000;

/// When dust is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dust {
    #[default]
    Collision,
    Always,
}

/// A decimal amount as somebody wrote it: a text, or a JSON number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal(pub String);

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Decimal;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a decimal amount as text or number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Decimal, E> {
                Ok(Decimal(text.to_owned()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Decimal, E> {
                Ok(Decimal(number.to_string()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Decimal, E> {
                Ok(Decimal(number.to_string()))
            }

            /// The shortest text of this number, without an exponent; the amount is read from that.
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Decimal, E> {
                Ok(Decimal(number.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Decimal {
    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number"], "description": "A decimal amount above 0, such as \"25.5\"" })
    }
}

/// A decimal text in the smallest unit: at most 15 digits before the point and `decimals` after it, and above 0.
pub fn parse_units(text: &str, decimals: u8) -> Result<Units, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) || text.ends_with('.') {
        return Err(format!("`{}` is no decimal number such as 25.5", text.chars().take(40).collect::<String>()));
    }
    if whole.trim_start_matches('0').len() > INTEGER_DIGITS_MAX || whole.len() > 2 * INTEGER_DIGITS_MAX {
        return Err(format!("more than {INTEGER_DIGITS_MAX} digits before the point"));
    }
    if fraction.len() > usize::from(decimals) {
        return Err(format!("more than {decimals} digits after the point"));
    }
    let digits = format!("{whole}{fraction:0<width$}", width = usize::from(decimals));
    match U256::from_str_radix(&digits, 10) {
        Ok(U256::ZERO) => Err("it is 0".to_owned()),
        Ok(units) => Ok(plugin_api::Wei(units)),
        Err(_) => Err("it is too large".to_owned()),
    }
}

/// With all decimals that it needs, and at least one: `10.0`.
pub fn format_units(units: Units, decimals: u8) -> String {
    let digits = format!("{:0>width$}", units.0.to_string(), width = usize::from(decimals) + 1);
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(decimals));
    let fraction = fraction.trim_end_matches('0');
    format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
}

/// By which amounts differ: what wallets keep, at least one unit.
pub fn dust_step(decimals: u8) -> Units {
    plugin_api::Wei(power_of_ten(decimals.saturating_sub(WALLET_DECIMALS)))
}

/// The most that is added to an amount.
pub fn dust_max(requested: Units) -> Units {
    plugin_api::Wei(requested.0 / U256::from(DUST_PART))
}

/// Whether somebody could type the amount by hand: whole cents, or whole tokens where a token has no parts of a cent.
fn is_round(amount: Units, decimals: u8) -> bool {
    let exponent = if decimals > CENT_DECIMALS { decimals - CENT_DECIMALS } else { decimals };
    amount.0 % power_of_ten(exponent) == U256::ZERO
}

/// The first amount from `requested` on that is not taken; `taken` are those between it and the most, in order. `None` when the dust
/// would be more than 0.1 %.
pub fn free_amount(requested: Units, decimals: u8, dust: Dust, taken: &[Units]) -> Option<Units> {
    let (step, most) = (dust_step(decimals), requested.saturating_add(dust_max(requested)));
    let mut amount = match dust {
        Dust::Collision => requested,
        Dust::Always => requested.checked_add(step)?,
    };
    while amount <= most {
        let is_refused = dust == Dust::Always && is_round(amount, decimals);
        if !is_refused && taken.binary_search(&amount).is_err() {
            return Some(amount);
        }
        amount = amount.checked_add(step)?;
    }
    None
}

/// 10 to this power.
pub fn power_of_ten(exponent: u8) -> U256 {
    U256::from(10).pow(U256::from(exponent))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn units(amount: u64) -> Units {
        Units::from(amount)
    }

    #[test]
    fn amounts_are_read_and_written_exactly() {
        for (text, decimals, expected, written) in [
            ("10", 6, "10000000", "10.0"),
            ("0.000001", 6, "1", "0.000001"),
            ("25.50", 6, "25500000", "25.5"),
            ("1", 0, "1", "1.0"),
            ("007", 2, "700", "7.0"),
            (
                "999999999999999.999999999999999999",
                18,
                "999999999999999999999999999999999",
                "999999999999999.999999999999999999",
            ),
        ] {
            let parsed = parse_units(text, decimals).unwrap();
            assert_eq!((parsed.to_string().as_str(), format_units(parsed, decimals).as_str()), (expected, written));
        }
        for (text, decimals) in [
            ("", 6),
            (".5", 6),
            ("5.", 6),
            ("-1", 6),
            ("+1", 6),
            ("1e3", 6),
            ("1,5", 6),
            ("0", 6),
            ("0.0", 6),
            ("1.0000001", 6),
            ("1000000000000000", 6),
            (" 1", 6),
            ("1.1", 0),
            ("NaN", 6),
            ("1.2.3", 6),
            ("٣", 6),
        ] {
            assert!(parse_units(text, decimals).is_err(), "{text}");
        }
    }

    #[test]
    fn json_numbers_are_amounts_too() {
        for (json, text) in [("\"10.5\"", "10.5"), ("10", "10"), ("10.5", "10.5"), ("0.1", "0.1"), ("-3", "-3")] {
            assert_eq!(serde_json::from_str::<Decimal>(json).unwrap().0, text);
        }
        assert!(serde_json::from_str::<Decimal>("null").is_err());
    }

    #[test]
    fn dust_is_added_step_by_step_and_never_more_than_a_thousandth() {
        assert_eq!((dust_step(6), dust_step(18), dust_step(2)), (units(1), units(1_000_000_000_000), units(1)));
        let ten = units(10_000_000);
        assert_eq!(free_amount(ten, 6, Dust::Collision, &[]), Some(ten));
        assert_eq!(free_amount(ten, 6, Dust::Always, &[]), Some(units(10_000_001)));
        let taken = [ten, units(10_000_001), units(10_000_003)];
        assert_eq!(free_amount(ten, 6, Dust::Collision, &taken), Some(units(10_000_002)));
        let all: Vec<Units> = (0..=10_000).map(|dust| units(10_000_000 + dust)).collect();
        assert_eq!(free_amount(ten, 6, Dust::Collision, &all[..10_000]), Some(units(10_010_000)));
        assert_eq!(free_amount(ten, 6, Dust::Collision, &all), None);
        // Neither the next cent nor a whole number is handed out, whatever somebody asks for.
        assert_eq!(free_amount(units(9_999_999), 6, Dust::Always, &[]), Some(units(10_000_001)));
        assert_eq!(free_amount(units(10_009_999), 6, Dust::Always, &[]), Some(units(10_010_001)));
        assert_eq!(free_amount(units(9_999_999), 6, Dust::Collision, &[]), Some(units(9_999_999)));
        // 99.99 and 100.00 and 100.01 with two decimals: two units are within a thousandth of 9,999, which is nine.
        assert_eq!(free_amount(units(9_999), 2, Dust::Always, &[]), Some(units(10_001)));
        assert_eq!(free_amount(units(99_999), 2, Dust::Always, &[]), Some(units(100_001)));
        assert_eq!(free_amount(units(10_000), 0, Dust::Always, &[]), None);
        // With 2 decimals one unit is a cent: 1.00 has no room, 10.00 has room for one.
        assert_eq!(free_amount(units(100), 2, Dust::Always, &[]), None);
        assert_eq!(free_amount(units(1000), 2, Dust::Always, &[]), Some(units(1001)));
    }
}
