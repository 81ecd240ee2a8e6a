//! Numbers as clients write them in vouchers: a decimal text, a `0x` text or, up to 2^53 - 1, a JSON number.

use crate::error::Malformed;
use alloy_primitives::U256;
use plugin_api::Wei;
use serde_json::Value;

const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// A number of 256 bits.
pub fn uint256(member: &'static str, value: Option<&Value>) -> Result<Wei, Malformed> {
    let invalid = || {
        Malformed::new(
            member,
            "a number below 2^256 is needed: decimal or 0x digits in a string, or an integer up to 2^53 - 1",
        )
    };
    match value {
        Some(Value::String(text)) => match text.strip_prefix("0x") {
            Some(digits) => hexadecimal(digits).ok_or_else(invalid),
            None => text.parse().map_err(|_: &str| invalid()),
        },
        Some(Value::Number(number)) => {
            number.as_u64().filter(|n| *n <= SAFE_INTEGER_MAX).map(|n| Wei(U256::from(n))).ok_or_else(invalid)
        }
        _ => Err(invalid()),
    }
}

fn hexadecimal(digits: &str) -> Option<Wei> {
    let is_number = (1..=64).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then(|| U256::from_str_radix(digits, 16).ok().map(Wei)).flatten()
}

/// Unix seconds, up to 2^53.
pub fn seconds(member: &'static str, value: Option<&Value>) -> Result<i64, Malformed> {
    let number = match value {
        Some(Value::String(text)) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        Some(Value::Number(number)) => number.as_u64(),
        _ => None,
    };
    number
        .filter(|seconds| *seconds <= SAFE_INTEGER_MAX + 1)
        .and_then(|seconds| i64::try_from(seconds).ok())
        .ok_or_else(|| Malformed::new(member, "Unix seconds are needed: an integer or its digits, up to 2^53"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_forms_of_a_number_are_one_number() {
        for value in [json!("10000000000000000"), json!("0x2386f26fc10000"), json!("0x002386F26FC10000")] {
            assert_eq!(uint256("amount", Some(&value)).unwrap().to_string(), "10000000000000000");
        }
        assert_eq!(uint256("nonce", Some(&json!(9_007_199_254_740_991_u64))).unwrap().to_string(), "9007199254740991");
        let max = format!("0x{}", "f".repeat(64));
        assert_eq!(uint256("nonce", Some(&json!(max))).unwrap().0, U256::MAX);
    }

    #[test]
    fn other_numbers_are_refused() {
        let over = format!("0x1{}", "0".repeat(64));
        for value in [
            json!(""),
            json!("0x"),
            json!("-1"),
            json!("1.0"),
            json!("1e18"),
            json!("0X1"),
            json!("0x+1"),
            json!("0x1_0"),
            json!(" 1"),
            json!(1.5),
            json!(-1),
            json!(9_007_199_254_740_992_u64),
            json!(1e30),
            json!(null),
            json!([1]),
            json!(over),
            json!("9".repeat(78)),
        ] {
            assert!(uint256("amount", Some(&value)).is_err(), "{value}");
        }
        assert!(uint256("amount", None).is_err());
    }

    #[test]
    fn seconds_up_to_two_to_the_53() {
        assert_eq!(seconds("expiry", Some(&json!("1900000000"))).unwrap(), 1_900_000_000);
        assert_eq!(seconds("expiry", Some(&json!(9_007_199_254_740_992_u64))).unwrap(), 9_007_199_254_740_992);
        for value in [
            json!(9_007_199_254_740_993_u64),
            json!("9007199254740993"),
            json!(""),
            json!("0x1"),
            json!(-1),
            json!(1.5),
        ] {
            assert!(seconds("expiry", Some(&value)).is_err(), "{value}");
        }
    }
}
