//! `eth_feeHistory`, of which nothing is used but which blocks used gas. The rule: its ratios are floats, so no number is made of
//! them; only whether one is zero is read, from its digits.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The response of a server.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FeeHistory {
    oldest_block: alloy_primitives::U64,
    /// Absent where it has no block.
    #[serde(default)]
    gas_used_ratio: Option<Vec<Box<RawValue>>>,
}

impl FeeHistory {
    /// For each block from `first` on whether it used gas, at most `count` of them. None where the response does not begin with that block,
    /// because the server gives fewer blocks than it was asked for.
    pub fn used_gas(&self, first: u64, count: u64) -> Option<Vec<bool>> {
        let ratios = self.gas_used_ratio.as_deref().unwrap_or_default();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let is_it = self.oldest_block.to::<u64>() == first && !ratios.is_empty();
        is_it.then(|| ratios.iter().take(count).map(|ratio| !is_zero(ratio.get())).collect())
    }
}

/// Whether a JSON number is zero: none of its digits before the exponent is another one. What is no number is not zero, so that
/// its block is looked at.
fn is_zero(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    mantissa.starts_with(|first: char| first.is_ascii_digit())
        && mantissa.chars().all(|digit| matches!(digit, '0' | '.'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(json: &str) -> FeeHistory {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn ratios_are_read_as_digits() {
        let ratios = "[0, 0.0, 0e0, 0.000, 1, 0.5, 1e-320, 5e-324, 0.00000000000000000000000000000001, null]";
        let history = read(&format!("{{\"oldestBlock\":\"0xa\",\"gasUsedRatio\":{ratios},\"baseFeePerGas\":[]}}"));
        let used = [false, false, false, false, true, true, true, true, true, true];
        assert_eq!(history.used_gas(10, 10).unwrap(), used);
        assert_eq!(history.used_gas(10, 5).unwrap(), used[..5], "no more than was asked for");
    }

    #[test]
    fn a_range_that_begins_elsewhere_is_no_answer() {
        let history = read("{\"oldestBlock\":\"0xb\",\"gasUsedRatio\":[0]}");
        assert_eq!((history.used_gas(10, 2), history.used_gas(11, 1)), (None, Some(vec![false])));
        assert_eq!(read("{\"oldestBlock\":\"0xa\",\"gasUsedRatio\":null}").used_gas(10, 1), None);
        assert_eq!(read("{\"oldestBlock\":\"0xa\"}").used_gas(10, 1), None);
    }
}
