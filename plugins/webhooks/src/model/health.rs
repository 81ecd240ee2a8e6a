//! Whether an endpoint is still worth calling: counted from its last success.

use super::DAY_S;
use crate::Config;

/// Failures of an endpoint since its last success, or since its owner switched it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// The last success, or when the owner switched it on.
    pub healthy_at: i64,
    pub failures: i64,
    /// Days (of UTC) with failures, and the last of them.
    pub failure_days: i64,
    pub last_failure_day: i64,
}

/// When an endpoint is switched off.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub days: i64,
    pub failures: i64,
    pub failure_days: i64,
}

impl Limits {
    pub fn of(config: &Config) -> Self {
        Self {
            days: config.disable_after_days.into(),
            failures: config.disable_failures.into(),
            failure_days: config.disable_failure_days.into(),
        }
    }
}

impl Health {
    pub fn failed(self, now_s: i64) -> Self {
        let day = now_s.div_euclid(DAY_S);
        let is_new_day = day != self.last_failure_day;
        Self {
            failures: self.failures + 1,
            failure_days: self.failure_days + i64::from(is_new_day),
            last_failure_day: day,
            ..self
        }
    }

    /// Why the endpoint is switched off now, for its owner.
    pub fn disabled_because(&self, limits: Limits, now_s: i64) -> Option<String> {
        let Self { healthy_at, failures, failure_days, .. } = self;
        let is_over = now_s - healthy_at >= limits.days * DAY_S
            && *failures >= limits.failures
            && *failure_days >= limits.failure_days;
        is_over.then(|| {
            let days = (now_s - healthy_at) / DAY_S;
            format!("no attempt succeeded for {days} days: {failures} attempts failed on {failure_days} days")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { days: 5, failures: 10, failure_days: 3 };
    const NEW: Health = Health { healthy_at: 0, failures: 0, failure_days: 0, last_failure_day: -1 };

    fn after(hours: impl IntoIterator<Item = i64>) -> Health {
        hours.into_iter().fold(NEW, |health, hour| health.failed(hour * 3600))
    }

    #[test]
    fn all_three_limits_have_to_be_reached() {
        let is_off = |health: Health, day: i64| health.disabled_because(LIMITS, day * DAY_S).is_some();
        let spread = after((0..10).map(|nth| nth * 8));
        assert_eq!((spread.failures, spread.failure_days), (10, 4));
        assert!(is_off(spread, 5) && !is_off(spread, 4));
        assert!(!is_off(after((0..9).map(|nth| nth * 8)), 9), "nine attempts");
        assert!(!is_off(after((0..10).map(|nth| nth * 4)), 9), "two days");
    }

    #[test]
    fn the_owner_reads_why() {
        let reason = after((0..12).map(|nth| nth * 10)).disabled_because(LIMITS, 6 * DAY_S);
        let expected = "no attempt succeeded for 6 days: 12 attempts failed on 5 days";
        assert_eq!(reason.as_deref(), Some(expected));
    }
}
