//! Amounts as numbers of whole coins. The rule: digits of integers, never a float.

use plugin_api::Wei;

/// Decimals that a number for aggregators has at most.
const DECIMALS_MAX: usize = 8;

/// The amount in whole coins as one number: at most eight decimals, cut off, without zeros at the end, without exponent or
/// separators: `30304979.875`, `30000000`.
pub fn number(amount: Wei) -> String {
    let coins = amount.in_coins();
    let (whole, fraction) = coins.split_once('.').unwrap_or((&coins, ""));
    let fraction = fraction.get(..DECIMALS_MAX).unwrap_or(fraction).trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn one_number_cut_off_and_without_zeros() {
        for (wei, text) in [
            ("0", "0"),
            ("9999999999", "0"),
            ("10000000000", "0.00000001"),
            ("1000000000000000000", "1"),
            ("30000000000000000000000000", "30000000"),
            ("1999999999999999999", "1.99999999"),
            ("32514979874999999892000000", "32514979.87499999"),
            ("1100000000000000000", "1.1"),
        ] {
            assert_eq!(number(wei.parse().unwrap()), text, "{wei}");
        }
    }
}
