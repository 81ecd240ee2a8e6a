//! Days of UTC.

use jiff::{ToSpan as _, civil};

pub const DAY_S: i64 = 86_400;
pub const HOUR_S: i64 = 3600;

/// The date of a day since 1970: `2026-11-26`.
pub fn date(day: i64) -> String {
    let epoch = civil::date(1970, 1, 1);
    epoch.checked_add(day.days()).unwrap_or(epoch).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!([0, 59, 19_782, 20_783].map(date), ["1970-01-01", "1970-03-01", "2024-02-29", "2026-11-26"]);
    }
}
