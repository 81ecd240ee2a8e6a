//! The progress of one index, for status, metrics, the log and the terminal.

use super::{
    progress_bar::BackfillBar,
    report::{IndexReport, IndexState, LAG_BLOCKS_MAX},
    store::{Cursor, IndexRow},
};
use gateway_config::LogFormat;
use parking_lot::Mutex;
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// The rate is measured over this time.
const RATE_WINDOW: Duration = Duration::from_secs(10);
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Shared by the task of the index and those who read its report.
pub(crate) struct Progress {
    state: Mutex<ProgressState>,
    /// Counts the changes of all indexes, for the publisher.
    changes: watch::Sender<u64>,
}

struct ProgressState {
    report: IndexReport,
    /// When a commit ended, and its next block.
    samples: VecDeque<(Instant, u64)>,
    logged: Option<Instant>,
    bar: BackfillBar,
}

impl Progress {
    pub(crate) fn new(plugin: &str, chain: &str, format: LogFormat, changes: watch::Sender<u64>) -> Self {
        let report = IndexReport { plugin: plugin.to_owned(), chain: chain.to_owned(), ..IndexReport::default() };
        Self::with_report(report, format, changes)
    }

    pub(crate) fn with_report(report: IndexReport, format: LogFormat, changes: watch::Sender<u64>) -> Self {
        let bar = BackfillBar::new(report.name(), format);
        let state = Mutex::new(ProgressState { report, samples: VecDeque::new(), logged: None, bar });
        Self { state, changes }
    }

    pub(crate) fn report(&self) -> IndexReport {
        self.state.lock().report.clone()
    }

    /// An index that is off is not behind: its metric has no value, with which no alert compares.
    pub(crate) fn set_off(&self, reason: &str) {
        self.set_state(IndexState::Off, Some(reason));
        let state = self.state.lock();
        if state.report.start_block.is_some() {
            state.record_block(f64::NAN);
        }
    }

    pub(crate) fn set_stopped(&self, reason: &str) {
        self.set_state(IndexState::Stopped, Some(reason));
    }

    pub(crate) fn set_failing(&self, reason: &str) {
        self.set_state(IndexState::Failing, Some(reason));
    }

    /// Another gateway holds the lease; the row tells how far that one is.
    pub(crate) fn set_elsewhere(&self, row: &IndexRow, head: Option<u64>) {
        self.set_state(IndexState::Elsewhere, row.holder.as_ref().map(|_| "another gateway works on it"));
        let mut state = self.state.lock();
        state.report.start_block = Some(row.start_block);
        state.set_next_block(row.cursor.next_block);
        state.report.head = head;
        state.measure();
    }

    fn set_state(&self, new: IndexState, reason: Option<&str>) {
        let mut state = self.state.lock();
        (state.report.state, state.report.reason) = (new, reason.map(str::to_owned));
        (state.report.left_s, state.report.blocks_per_s) = (None, 0);
        state.samples.clear();
        state.bar.hide();
        drop(state);
        self.wake_publisher();
    }

    fn wake_publisher(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Records the row and the head at the start of a tick. A failure stays in the report: whether the index works again is known at
    /// the end of the tick.
    pub(crate) fn tick_started(&self, row: &IndexRow, head: u64) {
        let mut state = self.state.lock();
        (state.report.start_block, state.report.head) = (Some(row.start_block), Some(head));
        state.set_next_block(row.cursor.next_block);
        match state.report.state {
            IndexState::Failing | IndexState::Stopped => state.measure(),
            _ => state.refresh(),
        }
    }

    pub(crate) fn tick_succeeded(&self) {
        self.state.lock().refresh();
    }

    /// Records that the index begins anew: it has no block until its next commit.
    pub(crate) fn restarted(&self, start_block: u64, head: Option<u64>) {
        let mut state = self.state.lock();
        (state.report.start_block, state.report.head) = (Some(start_block), head);
        state.samples.clear();
        state.set_next_block(start_block);
        state.measure();
    }

    /// Records a durable commit.
    pub(crate) fn committed(&self, cursor: &Cursor, events: usize) {
        // Before the report: who sees it knows that the publisher has not seen this commit yet.
        self.wake_publisher();
        let mut state = self.state.lock();
        let added = u64::try_from(events).unwrap_or(u64::MAX);
        state.report.events = state.report.events.saturating_add(added);
        metrics::counter!("gateway_chain_events_total", &state.labels()).increment(added);
        let now = Instant::now();
        state.samples.push_back((now, cursor.next_block));
        while state.samples.front().is_some_and(|(at, _)| now.duration_since(*at) > RATE_WINDOW) {
            state.samples.pop_front();
        }
        state.set_next_block(cursor.next_block);
        state.refresh();
    }
}

impl ProgressState {
    /// Of the metrics.
    fn labels(&self) -> [(&'static str, String); 2] {
        [("plugin", self.report.plugin.clone()), ("chain", self.report.chain.clone())]
    }

    fn set_next_block(&mut self, next_block: u64) {
        let has_indexed = Some(next_block) > self.report.start_block;
        self.report.indexed_block = next_block.checked_sub(1).filter(|_| has_indexed);
        self.record_block(gateway_chain::gauge_value(next_block.saturating_sub(1)));
    }

    fn record_block(&self, value: f64) {
        metrics::gauge!("gateway_chain_indexed_block", &self.labels()).set(value);
    }

    /// Updates state, rate and remaining time from the cursor and the head.
    fn refresh(&mut self) {
        self.measure();
        let is_behind = self.report.lag_blocks.is_some_and(|lag| lag > LAG_BLOCKS_MAX);
        let before = self.report.state;
        self.report.state = if is_behind { IndexState::Backfilling } else { IndexState::Following };
        self.report.reason = None;
        if is_behind {
            self.bar.show(&self.report);
            self.log_at_intervals();
        } else if before == IndexState::Backfilling {
            self.bar.hide();
            let IndexReport { plugin, chain, indexed_block, events, .. } = &self.report;
            tracing::info!(plugin, chain, indexed_block, events, "the index has reached the head");
        }
    }

    fn measure(&mut self) {
        self.report.update_lag(None);
        let (Some((since, from)), Some((until, to))) = (self.samples.front(), self.samples.back()) else { return };
        let elapsed_ms = until.duration_since(*since).as_millis();
        if elapsed_ms == 0 {
            return;
        }
        let per_s = u128::from(to.saturating_sub(*from)) * 1000 / elapsed_ms;
        self.report.blocks_per_s = u64::try_from(per_s).unwrap_or(u64::MAX);
        self.report.left_s = match (self.report.lag_blocks, self.report.blocks_per_s) {
            (Some(lag), rate) if rate > 0 && lag > LAG_BLOCKS_MAX => Some(lag / rate),
            _ => None,
        };
    }

    fn log_at_intervals(&mut self) {
        if self.logged.is_some_and(|at| at.elapsed() < LOG_INTERVAL) {
            return;
        }
        self.logged = Some(Instant::now());
        let IndexReport { plugin, chain, indexed_block, head, blocks_per_s, left_s, .. } = &self.report;
        tracing::info!(
            plugin,
            chain,
            indexed_block,
            head,
            blocks_per_s,
            left_s,
            "the index is on its way through the past"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{super::events_ahead::EventsAhead, *};
    use gateway_telemetry::MetricsRecorder;

    fn row(next_block: u64) -> IndexRow {
        let cursor = Cursor { next_block, hash: None };
        let (fingerprint, stopped, holder) = (String::new(), None, None);
        IndexRow { cursor, fingerprint, start_block: 0, stopped, holder, events_ahead: EventsAhead::default() }
    }

    #[test]
    fn an_index_fails_until_a_tick_ends_well_or_a_commit_is_durable() {
        let progress = Progress::new("ledger", "main", LogFormat::Json, watch::Sender::new(0));
        let state = || (progress.report().state, progress.report().reason);
        let failing = (IndexState::Failing, Some("why".to_owned()));
        progress.set_failing("why");
        progress.tick_started(&row(10), 10);
        assert_eq!(state(), failing, "what begins may fail again");
        progress.committed(&Cursor { next_block: 11, hash: None }, 0);
        assert_eq!(state(), (IndexState::Following, None));
        progress.set_failing("why");
        progress.tick_started(&row(11), 10);
        assert_eq!(state(), failing);
        progress.tick_succeeded();
        assert_eq!(state(), (IndexState::Following, None), "nothing was to be done");
    }

    #[test]
    fn an_index_that_begins_anew_has_no_block() {
        let progress = Progress::new("ledger", "main", LogFormat::Json, watch::Sender::new(0));
        progress.tick_started(&row(90), 99);
        assert_eq!(progress.report().indexed_block, Some(89));
        progress.restarted(0, Some(99));
        progress.tick_succeeded();
        let report = progress.report();
        assert_eq!((report.indexed_block, report.lag_blocks), (None, Some(99)));
        assert_eq!(report.state, IndexState::Backfilling);
    }

    #[test]
    fn the_metric_of_an_index_that_is_off_has_no_value() {
        let recorder = MetricsRecorder::default();
        let value = || recorder.gauges("gateway_chain_indexed_block").into_values().next();
        metrics::with_local_recorder(&recorder, || {
            let progress = Progress::new("ledger", "main", LogFormat::Json, watch::Sender::new(0));
            progress.set_off("no chain is configured");
            assert_eq!(value(), None);
            progress.tick_started(&row(90), 99);
            assert_eq!(value(), Some(89.0));
            progress.set_off("the plugin is off");
            assert!(value().is_some_and(f64::is_nan), "{:?}", value());
            progress.tick_started(&row(91), 99);
            assert_eq!(value(), Some(90.0), "it is on again");
        });
    }
}
