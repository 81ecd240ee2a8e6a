//! When a job runs next: arithmetic over Unix milliseconds, in UTC.
//!
//! The rule: a schedule that is accepted always has a next run, and that run is later than now.

use croner::{
    Cron,
    parser::{CronParser, Year},
};
use jiff::{Timestamp, tz::TimeZone};
use plugin_api::manifest::Schedule;

/// Spreads jobs that would start together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jitter {
    /// Up to a tenth of the interval, and at most half a minute.
    #[default]
    Random,
    /// Exact times, for tests.
    None,
}

/// A job that runs more often is a background task.
const INTERVAL_MIN_MS: u64 = 100;
const JITTER_MAX_MS: i64 = 30_000;

impl Jitter {
    fn random_ms(self, max_ms: i64) -> i64 {
        match self {
            Self::Random => rand::random_range(0..=max_ms.max(0)),
            Self::None => 0,
        }
    }
}

/// A schedule of the manifest, parsed and valid.
#[derive(Clone, Debug)]
pub(crate) enum ParsedSchedule {
    Every { interval_ms: i64 },
    Cron(Box<Cron>),
}

impl ParsedSchedule {
    /// The error describes the problem for the plugin's report.
    pub(crate) fn parse(schedule: &Schedule) -> Result<Self, String> {
        match schedule {
            Schedule::EveryMs(interval_ms) if *interval_ms < INTERVAL_MIN_MS => {
                Err(format!("runs every {interval_ms} ms: expected at least {INTERVAL_MIN_MS}"))
            }
            Schedule::EveryMs(interval_ms) => {
                Ok(Self::Every { interval_ms: i64::try_from(*interval_ms).unwrap_or(i64::MAX) })
            }
            Schedule::Cron(line) => parse_cron(line).map_err(|problem| format!("cron line `{line}`: {problem}")),
        }
    }

    /// The first run of a job that never ran.
    pub(crate) fn first_ms(&self, now_ms: i64, jitter: Jitter) -> i64 {
        match self {
            Self::Every { interval_ms } => now_ms.saturating_add(jitter.random_ms(jitter_max_ms(*interval_ms))),
            Self::Cron(cron) => next_match_ms(cron, now_ms),
        }
    }

    /// The next run after one that ended now.
    pub(crate) fn next_ms(&self, now_ms: i64, jitter: Jitter) -> i64 {
        match self {
            Self::Every { interval_ms } => {
                let jitter_ms = jitter.random_ms(jitter_max_ms(*interval_ms));
                now_ms.saturating_add(*interval_ms).saturating_add(jitter_ms)
            }
            Self::Cron(cron) => next_match_ms(cron, now_ms),
        }
    }

    /// The latest time that a run scheduled until now can have. A later one was scheduled before the clock went back.
    pub(crate) fn latest_ms(&self, now_ms: i64) -> i64 {
        match self {
            Self::Every { interval_ms } => {
                now_ms.saturating_add(*interval_ms).saturating_add(jitter_max_ms(*interval_ms))
            }
            Self::Cron(cron) => next_match_ms(cron, now_ms),
        }
    }
}

/// The schedule as the operator reads it.
impl std::fmt::Display for ParsedSchedule {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Every { interval_ms } if interval_ms % 1_000 == 0 => write!(out, "every {} s", interval_ms / 1_000),
            Self::Every { interval_ms } => write!(out, "every {interval_ms} ms"),
            Self::Cron(cron) => write!(out, "cron {} UTC", cron.as_str()),
        }
    }
}

fn jitter_max_ms(interval_ms: i64) -> i64 {
    (interval_ms / 10).min(JITTER_MAX_MS)
}

/// Five fields, or six with seconds first, and a date that matches.
fn parse_cron(line: &str) -> Result<ParsedSchedule, String> {
    let parser = CronParser::builder().year(Year::Disallowed).build();
    let cron = parser.parse(line).map_err(|error| error.to_string())?;
    // The calendar repeats every 400 years, so a line that has a match has one after any moment.
    match find_after(&cron, Timestamp::UNIX_EPOCH) {
        Some(_) => Ok(ParsedSchedule::Cron(Box::new(cron))),
        None => Err("no date matches it".to_owned()),
    }
}

/// The first match after now; i64::MAX, so that the job waits, when the clock is outside the calendar.
fn next_match_ms(cron: &Cron, now_ms: i64) -> i64 {
    let now = Timestamp::from_millisecond(now_ms).ok();
    now.and_then(|now| find_after(cron, now)).map_or(i64::MAX, Timestamp::as_millisecond)
}

fn find_after(cron: &Cron, start: Timestamp) -> Option<Timestamp> {
    let start = start.to_zoned(TimeZone::UTC);
    cron.find_next_occurrence(&start, false).ok().map(|next| next.timestamp())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn ms(time: &str) -> i64 {
        time.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn cron(line: &str) -> ParsedSchedule {
        ParsedSchedule::parse(&Schedule::Cron(line.to_owned())).unwrap()
    }

    fn every(interval_ms: u64) -> ParsedSchedule {
        ParsedSchedule::parse(&Schedule::EveryMs(interval_ms)).unwrap()
    }

    #[rstest]
    #[case("0 3 * * *", "2026-07-01T03:00:00Z", "2026-07-02T03:00:00Z")]
    #[case("0 3 * * *", "2026-07-01T02:59:59.999Z", "2026-07-01T03:00:00Z")]
    #[case("*/20 * * * * *", "2026-07-01T00:00:20.5Z", "2026-07-01T00:00:40Z")]
    #[case("0 0 29 2 *", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z")]
    #[case("30 2 * * SUN", "2026-03-28T12:00:00Z", "2026-03-29T02:30:00Z")]
    // Clocks in New York go back on this day, those of UTC do not.
    #[case("30 1 * * *", "2026-11-01T01:30:00Z", "2026-11-02T01:30:00Z")]
    fn cron_runs_at_the_next_match_in_utc(#[case] line: &str, #[case] now: &str, #[case] next: &str) {
        assert_eq!(cron(line).next_ms(ms(now), Jitter::Random), ms(next));
        assert_eq!(cron(line).first_ms(ms(now), Jitter::Random), ms(next));
    }

    #[rstest]
    #[case("every day", "cron line `every day`: ")]
    #[case("61 * * * *", "cron line `61 * * * *`: ")]
    #[case("", "cannot be an empty string")]
    #[case("* * * *", "field")]
    #[case("0 0 0 1 1 * 2030", "5 or 6 fields")]
    #[case("0 0 30 2 *", "no date matches it")]
    fn a_cron_line_that_never_matches_is_invalid(#[case] line: &str, #[case] reason: &str) {
        let problem = ParsedSchedule::parse(&Schedule::Cron(line.to_owned())).unwrap_err();
        assert!(problem.contains(reason), "{problem}");
    }

    #[test]
    fn an_interval_counts_from_the_end_of_a_run() {
        assert_eq!(every(60_000).first_ms(1_000, Jitter::None), 1_000);
        assert_eq!(every(60_000).next_ms(1_000, Jitter::None), 61_000);
        assert_eq!(every(u64::MAX).next_ms(1_000, Jitter::Random), i64::MAX);
        assert!(ParsedSchedule::parse(&Schedule::EveryMs(99)).unwrap_err().contains("at least 100"));
    }

    #[test]
    fn a_schedule_is_displayed_with_its_unit() {
        assert_eq!(every(90_000).to_string(), "every 90 s");
        assert_eq!(every(1_500).to_string(), "every 1500 ms");
        assert_eq!(cron("0 3 * * *").to_string(), "cron 0 3 * * * UTC");
    }

    proptest! {
        #[test]
        fn jitter_is_at_most_a_tenth_and_half_a_minute(interval_ms in 1u64..10_000_000) {
            let next_ms = every(interval_ms).next_ms(0, Jitter::Random);
            let interval_ms = i64::try_from(interval_ms).unwrap();
            prop_assert!((interval_ms..=interval_ms + (interval_ms / 10).min(30_000)).contains(&next_ms));
        }

        #[test]
        fn no_planned_run_is_later_than_the_latest(now_ms in -1i64 << 45..1i64 << 45, waited_ms in 0i64..1 << 40) {
            for schedule in [every(7_000), every(86_400_000), cron("*/5 * * * *"), cron("0 0 1 * *")] {
                let next_ms = schedule.next_ms(now_ms, Jitter::Random);
                prop_assert!(next_ms > now_ms);
                prop_assert!(next_ms <= schedule.latest_ms(now_ms + waited_ms));
            }
        }
    }
}
