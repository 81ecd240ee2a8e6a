//! Amounts for people.

use plugin_api::Wei;

/// 18 decimals, and at least one of them: `0.5`, `50.0`.
pub fn fmx(amount: Wei) -> String {
    let digits = format!("{:0>19}", amount.to_string());
    let (whole, fraction) = digits.split_at(digits.len() - 18);
    let fraction = fraction.trim_end_matches('0');
    format!("{whole}.{}", if fraction.is_empty() { "0" } else { fraction })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_all_their_decimals() {
        let of = |text: &str| text.parse().map(fmx);
        assert_eq!(of("10000000000000000000").as_deref(), Ok("10.0"));
        assert_eq!(of("500000000000000000").as_deref(), Ok("0.5"));
        assert_eq!(of("1").as_deref(), Ok("0.000000000000000001"));
        assert_eq!(of("0").as_deref(), Ok("0.0"));
    }
}
