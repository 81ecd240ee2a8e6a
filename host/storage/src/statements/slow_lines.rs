//! How often one statement text is logged as slow.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// At most one line in this time.
const LINE_INTERVAL: Duration = Duration::from_mins(1);

/// The lines about one statement text.
#[derive(Debug, Default)]
pub(crate) struct SlowLines(Mutex<Option<LastLine>>);

#[derive(Debug)]
struct LastLine {
    at: Instant,
    /// Lines that were left out since.
    left_out: u64,
}

impl SlowLines {
    /// How many were left out since the last one; `None` when this one is left out, too.
    pub(crate) fn admit(&self, now: Instant) -> Option<u64> {
        let mut last = self.0.lock();
        match &mut *last {
            Some(last) if now.duration_since(last.at) < LINE_INTERVAL => {
                last.left_out += 1;
                None
            }
            last => last.replace(LastLine { at: now, left_out: 0 }).map_or(Some(0), |last| Some(last.left_out)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_line_a_minute_that_counts_those_left_out() {
        let lines = SlowLines::default();
        let start = Instant::now();
        let at = |seconds| lines.admit(start + Duration::from_secs(seconds));
        assert_eq!(
            [at(0), at(1), at(59), at(60), at(61), at(200), at(270)],
            [Some(0), None, None, Some(2), None, Some(1), Some(0)]
        );
    }
}
