//! How many drips may be used by now, and how hard the puzzle is for the next one.

use crate::config::{Config, POW_BITS_MAX};

pub const DAY_S: i64 = 86_400;
/// Of the puzzle when half of what may be used now is used, and how many more for each further eighth.
const BUSY_BITS: u32 = 16;
const BITS_PER_STEP: u32 = 2;
const STEPS: i64 = 4;

/// The day's budget. A quarter of it can be used at once; the rest becomes free as the day goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    per_day: i64,
    second_of_day: i64,
}

impl Budget {
    pub fn at(config: &Config, now_s: i64) -> Self {
        Self { per_day: config.per_day, second_of_day: now_s.rem_euclid(DAY_S) }
    }

    /// Drips that may be used by now.
    pub fn allowed(self) -> i64 {
        let by_clock = self.per_day * self.second_of_day / DAY_S;
        self.per_day.min(self.at_once() + by_clock)
    }

    /// At least one: a smaller budget would give nothing for most of the day.
    fn at_once(self) -> i64 {
        (self.per_day / 4).max(1)
    }

    /// Seconds until one more than `used` is free.
    pub fn retry_after_s(self, used: i64) -> i64 {
        let needed = used + 1 - self.at_once();
        let free_at = if used < self.per_day { (needed * DAY_S + self.per_day - 1) / self.per_day } else { DAY_S };
        (free_at.min(DAY_S) - self.second_of_day).max(1)
    }

    /// Bits of the puzzle for the next drip.
    pub fn bits(self, config: &Config, used: i64) -> u32 {
        let allowed = self.allowed().max(1);
        if !config.pow_follows_use || used * 2 < allowed {
            return config.pow_bits;
        }
        let step = ((used * 2 - allowed) * STEPS / allowed).clamp(0, STEPS);
        let more = BITS_PER_STEP * u32::try_from(step).unwrap_or(0);
        (config.pow_bits + BITS_PER_STEP).max(BUSY_BITS).saturating_add(more).min(POW_BITS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(per_day: i64, second_of_day: i64) -> Budget {
        Budget { per_day, second_of_day }
    }

    #[test]
    fn a_quarter_is_free_at_once_and_the_rest_with_the_clock() {
        for (second, allowed) in [(0, 25), (863, 25), (864, 26), (43_200, 75), (64_800, 100), (86_399, 100)] {
            assert_eq!(budget(100, second).allowed(), allowed, "at {second}");
        }
        assert_eq!([0, 43_200, 86_399].map(|second| budget(1, second).allowed()), [1, 1, 1]);
        for second in (0..DAY_S).step_by(61) {
            for per_day in [4, 7, 100, 12_345] {
                let ahead = budget(per_day, second).allowed() * DAY_S - per_day * second;
                assert!(ahead <= per_day * DAY_S / 4, "{per_day} at {second}");
            }
        }
    }

    #[test]
    fn the_next_one_is_free_when_it_says() {
        for (second, used) in [(0, 25), (0, 99), (500, 30), (40_000, 75), (86_000, 100)] {
            let wait = budget(100, second).retry_after_s(used);
            assert!(wait > 0 && second + wait <= DAY_S, "{wait}");
            if second + wait < DAY_S {
                assert!(budget(100, second + wait).allowed() > used, "{used} at {second}");
                assert!(budget(100, second + wait - 1).allowed() <= used, "{used} at {second}");
            }
        }
        assert_eq!(budget(100, 10).retry_after_s(100), DAY_S - 10);
    }

    #[test]
    fn the_puzzle_is_the_configured_one_below_half_and_harder_above() {
        let config = |pow_bits| Config { pow_bits, ..Config::default() };
        let at = |used| budget(100, 64_800).bits(&config(0), used);
        assert_eq!([0, 49, 50, 62, 63, 75, 88, 100].map(at), [0, 0, 16, 16, 18, 20, 22, 24]);
        assert_eq!(budget(100, 0).bits(&config(0), 12), 0);
        assert_eq!(budget(100, 0).bits(&config(0), 13), 16, "a half of the quarter");
        assert_eq!(budget(100, 64_800).bits(&config(20), 49), 20);
        assert_eq!(budget(100, 64_800).bits(&config(20), 50), 22);
        assert_eq!(budget(100, 64_800).bits(&config(40), 100), 40);
        let fixed = Config { pow_follows_use: false, pow_bits: 3, ..Config::default() };
        assert_eq!(budget(100, 64_800).bits(&fixed, 100), 3);
    }
}
