//! Amounts of the native coin (18 decimals) for people. Never a float.

use plugin_api::Wei;

const DECIMALS: usize = 18;
const DECIMALS_SHOWN: usize = 4;

/// At most 4 decimals, truncated, without trailing zeros.
pub fn shown(amount: Wei) -> String {
    let digits = format!("{:0>width$}", amount.to_string(), width = DECIMALS + 1);
    let (whole, decimals) = digits.split_at(digits.len() - DECIMALS);
    let decimals = decimals[..DECIMALS_SHOWN].trim_end_matches('0');
    if decimals.is_empty() { whole.to_owned() } else { format!("{whole}.{decimals}") }
}

/// Digits are wei; digits with a decimal point are coins.
pub fn read(text: &str) -> Option<Wei> {
    let Some((whole, decimals)) = text.split_once('.') else { return text.parse().ok() };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(decimals) || decimals.len() > DECIMALS {
        return None;
    }
    format!("{}{decimals:0<DECIMALS$}", whole.trim_start_matches('0')).parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn four_decimals_are_shown() {
        for (wei, coins) in [
            ("0", "0"),
            ("1", "0"),
            ("99999999999999", "0"),
            ("100000000000000", "0.0001"),
            ("500000000000000000", "0.5"),
            ("1999999999999999999", "1.9999"),
            ("12000000000000000000", "12"),
            (
                "115792089237316195423570985008687907853269984665640564039457584007913129639935",
                "115792089237316195423570985008687907853269984665640564039457.584",
            ),
        ] {
            assert_eq!(shown(wei.parse().unwrap()), coins, "{wei}");
        }
    }

    #[test]
    fn wei_or_coins_are_read() {
        for (text, wei) in [
            ("0", "0"),
            ("15", "15"),
            ("0.0", "0"),
            ("1.5", "1500000000000000000"),
            ("007.5", "7500000000000000000"),
            ("0.000000000000000001", "1"),
        ] {
            assert_eq!(read(text).unwrap().to_string(), wei, "{text}");
        }
        let too_much = format!("{}.0", "9".repeat(70));
        for text in ["", ".", "1.", ".5", "-1", "1e3", "1,5", "1.5.2", "0.0000000000000000001", "١", &too_much] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
