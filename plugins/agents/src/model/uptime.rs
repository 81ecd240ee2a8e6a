//! How reliably an agent answered the probes.

use plugin_api::JsonSchema;
use serde::Serialize;

/// Days that the numbers cover, up to the last one with a probe.
pub const UPTIME_DAYS: i64 = 30;
/// With fewer days there is no percentage.
const DAYS_MIN: i64 = 7;

/// Answered probes of the last 30 days.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Uptime {
    window_days: i64,
    /// Days with a probe.
    days: i64,
    probes: i64,
    ok: i64,
    fail: i64,
    /// One decimal; null until there are seven days of probes.
    uptime_pct: Option<f64>,
    /// The last probe, unix milliseconds.
    last_ms: Option<i64>,
    enough_history: bool,
}

impl Uptime {
    /// `ok` and `fail` count probes.
    #[allow(clippy::cast_precision_loss, reason = "there are few probes")]
    pub fn new(days: i64, ok: i64, fail: i64, last_ms: Option<i64>) -> Self {
        let (probes, enough_history) = (ok + fail, days >= DAYS_MIN);
        let tenths = (probes > 0).then(|| (ok as f64 * 1000.0 / probes as f64).round() / 10.0);
        let uptime_pct = tenths.filter(|_| enough_history);
        Self { window_days: UPTIME_DAYS, days, probes, ok, fail, uptime_pct, last_ms, enough_history }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_needs_seven_days_and_has_one_decimal() {
        assert_eq!(Uptime::new(6, 10, 0, Some(1)).uptime_pct, None);
        assert_eq!(Uptime::new(7, 2, 1, Some(1)).uptime_pct, Some(66.7));
        assert_eq!(Uptime::new(30, 0, 5, Some(1)).uptime_pct, Some(0.0));
        let none = Uptime::new(0, 0, 0, None);
        assert!((none.probes, none.uptime_pct, none.enough_history) == (0, None, false));
    }
}
