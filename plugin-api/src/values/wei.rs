//! An amount of the native coin's smallest unit: 256 bits, never a float.

use alloy_primitives::U256;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt, str::FromStr};

/// Written as a decimal string without leading zeros; read as `^[0-9]{1,78}$` or a JSON integer up to 2^53 - 1.
///
/// ```
/// use plugin_api::Wei;
///
/// let price: Result<Wei, _> = "1000000000000000000".parse();
/// assert_eq!(price.map(|price| price.saturating_mul(3).to_string()), Ok("3000000000000000000".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wei(pub U256);

const EXPECTED: &str = "an amount in wei is a string of 1 to 78 decimal digits, below 2^256";

const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

impl Wei {
    pub const ZERO: Self = Self(U256::ZERO);

    /// 78 digits with leading zeros: a text that databases sort and compare like the number.
    pub fn sort_key(&self) -> String {
        format!("{:0>78}", self.0.to_string())
    }

    /// The amount in whole coins of 18 decimals, with all decimals that it needs and at least one: `0.5`, `50.0`.
    pub fn in_coins(self) -> String {
        let digits = format!("{:0>19}", self.0.to_string());
        let (whole, fraction) = digits.split_at(digits.len() - 18);
        let fraction = fraction.trim_end_matches('0');
        format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// For totals; stops at 2^256 - 1.
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference; zero when `other` is larger.
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    pub fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(U256::from(times)))
    }
}

impl From<u64> for Wei {
    fn from(amount: u64) -> Self {
        Self(U256::from(amount))
    }
}

impl fmt::Display for Wei {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, out)
    }
}

impl FromStr for Wei {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() || text.len() > 78 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(EXPECTED);
        }
        U256::from_str_radix(text, 10).map(Self).map_err(|_: alloy_primitives::ruint::ParseError| EXPECTED)
    }
}

impl Serialize for Wei {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Wei {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Wei;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(EXPECTED)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Wei, E> {
                if value > SAFE_INTEGER_MAX {
                    return Err(E::custom("send amounts above 2^53 - 1 as strings"));
                }
                Ok(Wei(U256::from(value)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Wei, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Wei {
    fn schema_name() -> Cow<'static, str> {
        "Wei".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]{1,78}$", "description": "Amount in wei" })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn amounts_up_to_the_last_bit() {
        let max = U256::MAX.to_string();
        assert_eq!(max.parse::<Wei>().unwrap().to_string(), max);
        assert_eq!("007".parse::<Wei>().unwrap().to_string(), "7");
        assert_eq!(serde_json::from_str::<Wei>("9007199254740991").unwrap().to_string(), "9007199254740991");
        for text in [
            "",
            "-1",
            "1.0",
            "1e18",
            "0x1",
            "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        ] {
            assert!(text.parse::<Wei>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Wei>("9007199254740992").is_err());
        assert!(serde_json::from_str::<Wei>("1.5").is_err());
    }

    #[test]
    fn coins_have_all_decimals_that_they_need() {
        for (wei, text) in [
            ("0", "0.0"),
            ("1", "0.000000000000000001"),
            ("500000000000000000", "0.5"),
            ("50000000000000000000", "50.0"),
        ] {
            assert_eq!(text, wei.parse::<Wei>().unwrap().in_coins());
        }
    }

    #[test]
    fn keys_sort_like_numbers() {
        let key = |text: &str| text.parse::<Wei>().unwrap().sort_key();
        assert!(key("9") < key("10") && key("10") < key(&U256::MAX.to_string()));
    }
}
