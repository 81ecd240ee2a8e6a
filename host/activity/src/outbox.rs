//! The outbox: events of committed transactions that have no position in the log yet (PostgreSQL only).
//!
//! The rule: writers insert and share no lock. Only the sequencer, and what undoes blocks of a chain, delete.

use abi_stable::std_types::RString;
use plugin_api::{Sql, abi::Statement};
use std::time::{Duration, Instant};

/// Deletes the events with these keys. Whoever undoes them runs this first, and then selects those that are public; an event
/// that the sequencer moves meanwhile is found by one of the two:
///
/// - It is deleted here first: the sequencer skips locked rows, and after the commit there is nothing to move.
/// - The sequencer deleted it first: this statement waits for that commit. At READ COMMITTED the row is gone then, and the
///   later statement, whose snapshot is newer, sees it in the log. A SERIALIZABLE transaction, whose one snapshot still has it
///   in the outbox, fails with a conflict, also when that commit came long before, and is repeated.
///
/// The sequencer never waits for a row, so the two cannot deadlock.
pub(crate) fn withdraw(keys: Sql) -> Statement {
    let Statement { sql, params } = keys.into();
    let text = format!("DELETE FROM host_activity_outbox WHERE unique_key IN ({sql})");
    Statement { sql: RString::from(text).into(), params }
}

/// Between two scans of the whole outbox: what a transaction that took longer than it may has written below the place where
/// scans begin is late, not lost.
const FULL_SCAN_INTERVAL: Duration = Duration::from_secs(10);
/// A scan of the whole outbox is slow while an old transaction, such as a backup's, keeps deleted rows: it then takes at most
/// one part in so many of the time.
const FULL_SCAN_SHARE: u32 = 20;

/// Most scans begin behind what was there that long ago: few transactions take longer.
const RECENT: Duration = Duration::from_secs(1);
/// Between two scans of everything that is not settled, which find what such a transaction has written.
const UNSETTLED_SCAN_INTERVAL: Duration = Duration::from_millis(500);

/// Where the next scan begins. The index keeps deleted rows until the next vacuum, and a scan from the first one would read
/// all of them.
pub(crate) struct OutboxScan {
    /// The highest id that was seen a while ago, and the next one.
    recent: i64,
    next_recent: i64,
    recent_since: Instant,
    next_unsettled: Instant,
    /// Nothing appears up to this id any more.
    settled: i64,
    /// The highest id that was seen at `candidate_since`; it is settled after [`Self::settle_time`].
    candidate: i64,
    candidate_since: Instant,
    highest: i64,
    /// Twice the time limit of a transaction. Lower ids than one that was seen so long ago belong to transactions that have
    /// ended: they were assigned before it.
    settle_time: Duration,
    next_full: Instant,
}

/// One scan of the outbox.
pub(crate) struct Scan {
    /// Ids above this one.
    pub after: i64,
    begun: Instant,
}

impl OutboxScan {
    pub(crate) fn new(transaction_timeout: Duration) -> Self {
        let now = Instant::now();
        let settle_time = transaction_timeout * 2;
        Self {
            recent: 0,
            next_recent: 0,
            recent_since: now,
            next_unsettled: now,
            settled: 0,
            candidate: 0,
            candidate_since: now,
            highest: 0,
            settle_time,
            next_full: now,
        }
    }

    pub(crate) fn begin(&mut self, now: Instant) -> Scan {
        if now.duration_since(self.candidate_since) >= self.settle_time {
            (self.settled, self.candidate, self.candidate_since) = (self.candidate, self.highest, now);
        }
        if now.duration_since(self.recent_since) >= RECENT {
            (self.recent, self.next_recent, self.recent_since) = (self.next_recent, self.highest, now);
        }
        let after = if now >= self.next_full {
            0
        } else if now >= self.next_unsettled {
            self.next_unsettled = now + UNSETTLED_SCAN_INTERVAL;
            self.settled
        } else {
            self.recent()
        };
        Scan { after, begun: now }
    }

    /// What is written from now on has a higher id.
    pub(crate) fn recent(&self) -> i64 {
        self.recent.max(self.settled)
    }

    /// `highest` is the highest id that the scan found, and `is_complete` whether it found all.
    pub(crate) fn end(&mut self, scan: &Scan, now: Instant, highest: i64, is_complete: bool) {
        self.highest = self.highest.max(highest);
        if scan.after == 0 && is_complete {
            let took = now.duration_since(scan.begun);
            self.next_full = now + FULL_SCAN_INTERVAL.max(took * FULL_SCAN_SHARE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);

    #[test]
    fn a_scan_leaves_out_what_is_settled() {
        let mut scans = OutboxScan::new(LIMIT);
        let start = Instant::now();
        let mut after = |at_s: u64, highest: i64| {
            let now = start + Duration::from_secs(at_s);
            let scan = scans.begin(now);
            scans.end(&scan, now, highest, true);
            scan.after
        };
        // Id 100 was there when candidates were noted at 11 s, and is settled ten seconds later. A scan at 31 s is of everything.
        let scans = [(0, 0), (1, 100), (11, 200), (12, 300), (20, 300), (22, 400), (31, 400), (33, 400)];
        assert_eq!(scans.map(|(at_s, highest)| after(at_s, highest)), [0, 0, 0, 0, 0, 100, 0, 300]);
    }

    #[test]
    fn most_scans_leave_out_what_was_there_a_second_ago() {
        let mut scans = OutboxScan::new(LIMIT);
        let start = Instant::now();
        let mut after = |at_ms: u64, highest: i64| {
            let now = start + Duration::from_millis(at_ms);
            let scan = scans.begin(now);
            scans.end(&scan, now, highest, true);
            scan.after
        };
        // The first is of everything, and every half second one of what may still change: nothing is settled yet.
        let scans = [
            (0, 100),
            (100, 110),
            (200, 120),
            (1000, 200),
            (1100, 210),
            (2100, 300),
            (2200, 310),
            (2700, 400),
            (2800, 410),
        ];
        assert_eq!(scans.map(|(at_ms, highest)| after(at_ms, highest)), [0, 0, 0, 0, 0, 0, 120, 0, 120]);
    }

    #[test]
    fn a_slow_scan_of_everything_is_not_repeated_soon() {
        let mut scans = OutboxScan::new(Duration::ZERO);
        let start = Instant::now();
        let scan = scans.begin(start);
        scans.end(&scan, start + Duration::from_secs(2), 7, true);
        // Twice, so that 7 is settled.
        scans.begin(start + Duration::from_secs(3));
        let begins = [4, 41, 43].map(|s| scans.begin(start + Duration::from_secs(s)).after);
        assert_eq!(begins, [7, 7, 0]);
    }

    #[test]
    fn a_scan_of_everything_goes_on_until_it_is_complete() {
        let mut scans = OutboxScan::new(Duration::ZERO);
        let start = Instant::now();
        for highest in [1000, 2000, 3000] {
            let scan = scans.begin(start + Duration::from_secs(1));
            assert_eq!(scan.after, 0);
            scans.end(&scan, start + Duration::from_secs(1), highest, false);
        }
    }
}
