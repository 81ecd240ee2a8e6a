//! Block numbers and counts as values of metrics.

/// Gauges hold floats, which are exact up to 2^53: block numbers and counts are far below.
#[allow(clippy::cast_precision_loss, reason = "block numbers and counts are far below 2^53")]
pub fn gauge_value(number: u64) -> f64 {
    number as f64
}
