//! Averages and shares with two decimals.

use plugin_api::JsonSchema;
use serde::Serialize;

/// Written as a number with two decimals at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(into = "f64")]
#[schemars(inline, with = "f64")]
pub struct Hundredths(u32);

impl From<Hundredths> for f64 {
    fn from(Hundredths(number): Hundredths) -> Self {
        Self::from(number) / 100.0
    }
}

/// `sum / count`, rounded half up; `None` of nothing.
pub fn average(sum: i64, count: i64) -> Option<Hundredths> {
    let (sum, count) = (u128::try_from(sum).ok()?, u128::try_from(count).ok()?);
    let hundredths = (sum * 200 + count).checked_div(count * 2)?;
    Some(Hundredths(u32::try_from(hundredths).unwrap_or(u32::MAX)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_average_has_two_decimals() {
        let written = |sum, count| average(sum, count).map(|average| serde_json::to_string(&average).unwrap());
        assert_eq!(written(14, 3).as_deref(), Some("4.67"));
        assert_eq!(written(1, 200).as_deref(), Some("0.01"), "half up");
        assert_eq!(written(5, 1).as_deref(), Some("5.0"));
        assert_eq!(written(0, 0), None);
        assert_eq!(average(i64::MAX, 1), Some(Hundredths(u32::MAX)));
    }
}
