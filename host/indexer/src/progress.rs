//! How the indexes do, for status, metrics, log and terminal. The rule: an index is well when it keeps up with the head,
//! not when its task runs.

use super::{
    bar::Bar,
    store::{Known, Place},
};
use gateway_config::{ChainConfig, LogFormat};
use parking_lot::Mutex;
use plugin_api::point::ServiceStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

/// An index that is further behind than this does not keep up.
const LAG_BLOCKS_MAX: u64 = 30;
/// The rate is that of this time.
const RATE_WINDOW: Duration = Duration::from_secs(10);
const LOG_INTERVAL: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// The plugin, the chain or its contracts are not there.
    #[default]
    Off,
    /// On the way through the past.
    Backfilling,
    /// At the head, or a few blocks behind.
    Following,
    /// Another gateway on this database works on it.
    Elsewhere,
    /// Something fails; it is tried again.
    Failing,
    /// It does not go on until someone acts.
    Stopped,
}

impl IndexState {
    /// As on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Backfilling => "backfilling",
            Self::Following => "following",
            Self::Elsewhere => "elsewhere",
            Self::Failing => "failing",
            Self::Stopped => "stopped",
        }
    }
}

/// One index, for the operator and for status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexReport {
    pub plugin: String,
    pub state: IndexState,
    /// Why it is not following.
    pub reason: Option<String>,
    pub start_block: Option<u64>,
    /// The last block whose events are in the tables.
    pub indexed_block: Option<u64>,
    pub head: Option<u64>,
    pub lag_blocks: Option<u64>,
    /// Events since this gateway started.
    pub events: u64,
    pub blocks_per_s: u64,
    /// Seconds until it reaches the head, at the present rate.
    pub left_s: Option<u64>,
}

/// The indexes of this gateway by plugin.
#[derive(Default)]
pub struct Indexes(Mutex<BTreeMap<String, Arc<Progress>>>);

pub struct Progress(Mutex<Now>);

struct Now {
    report: IndexReport,
    samples: VecDeque<(Instant, u64)>,
    logged: Option<Instant>,
    bar: Bar,
}

impl Indexes {
    pub(super) fn open(&self, plugin: &str, format: LogFormat) -> Arc<Progress> {
        let report = IndexReport { plugin: plugin.to_owned(), ..IndexReport::default() };
        let now = Now { report, samples: VecDeque::new(), logged: None, bar: Bar::new(plugin, format) };
        let progress = Arc::new(Progress(Mutex::new(now)));
        self.0.lock().insert(plugin.to_owned(), progress.clone());
        progress
    }

    /// One report per plugin that indexes, by name.
    pub fn reports(&self) -> Vec<IndexReport> {
        self.0.lock().values().map(|progress| progress.0.lock().report.clone()).collect()
    }

    /// The last block that every index has; nothing while none is on.
    pub fn indexed_block(&self) -> Option<u64> {
        let reports = self.reports();
        let on = reports.iter().filter(|report| report.state != IndexState::Off);
        on.map(|report| report.indexed_block).min().flatten()
    }

    /// The services `indexer`, of all indexes, and `v3indexer`, the same about the contracts beside registry and escrow.
    /// How far an index is behind follows from the chain's head at this moment, whatever the index believes.
    pub fn services(&self, chain: &ChainConfig, head: Option<u64>) -> BTreeMap<String, ServiceStatus> {
        let mut on = self.reports();
        on.retain(|report| report.state != IndexState::Off);
        on.iter_mut().for_each(|report| report.compare_with(head));
        let words: Vec<String> = on.iter().filter(|report| !is_well(report)).map(describe).collect();
        let detail = if on.is_empty() { Some("no plugin indexes".to_owned()) } else { None };
        let detail = detail.or_else(|| (!words.is_empty()).then(|| words.join("; ")));
        let service = |members: Value| {
            let numbers = members.as_object().cloned().unwrap_or_default();
            let enabled = on.is_empty().then_some(false);
            ServiceStatus { ok: words.is_empty(), enabled, detail: detail.clone(), numbers }
        };
        let lag_blocks = on.iter().filter_map(|report| report.lag_blocks).max();
        let lag_seconds = |blocks: u64| blocks.saturating_mul(chain.block_time_s.into());
        let index = |report: &IndexReport| {
            let mut index = json!(report);
            index["lagSeconds"] = json!(report.lag_blocks.map(lag_seconds));
            index
        };
        let contracts: Vec<String> = chain.deployed().into_keys().filter(|key| !is_first(key)).collect();
        let indexer = service(json!({
            "indexedBlock": self.indexed_block(),
            "lagBlocks": lag_blocks,
            "lagSeconds": lag_blocks.map(lag_seconds),
            "deployBlock": chain.deploy_block,
            "pollMs": chain.poll_ms,
            "indexes": on.iter().map(index).collect::<Vec<_>>(),
        }));
        let beside = service(json!({
            "contracts": contracts,
            "deployBlock": chain.deploy_block,
            "backfilled": !on.is_empty() && on.iter().all(|report| report.lag_blocks.is_some_and(is_near)),
            "indexedBlock": self.indexed_block(),
            "lagBlocks": lag_blocks,
        }));
        BTreeMap::from([("indexer".to_owned(), indexer), ("v3indexer".to_owned(), beside)])
    }
}

impl IndexReport {
    /// Measures against another head than the one that the index saw last.
    fn compare_with(&mut self, head: Option<u64>) {
        self.head = head.or(self.head);
        let indexed = self.indexed_block.or(self.start_block);
        self.lag_blocks = self.head.zip(indexed).map(|(head, indexed)| head.saturating_sub(indexed));
    }
}

/// The contracts that were there before all others.
fn is_first(key: &str) -> bool {
    ["registry", "escrow"].iter().any(|first| first.eq_ignore_ascii_case(key))
}

const fn is_near(lag_blocks: u64) -> bool {
    lag_blocks <= LAG_BLOCKS_MAX
}

fn is_well(report: &IndexReport) -> bool {
    let is_running = matches!(report.state, IndexState::Backfilling | IndexState::Following | IndexState::Elsewhere);
    is_running && report.lag_blocks.is_none_or(is_near)
}

fn describe(report: &IndexReport) -> String {
    let IndexReport { plugin, state, reason, lag_blocks, left_s, .. } = report;
    match (reason, lag_blocks, left_s) {
        (Some(reason), ..) => format!("{plugin} is {}: {reason}", state.name()),
        (None, Some(lag), Some(left)) => format!("{plugin} is {lag} blocks behind, about {left} s to go"),
        (None, Some(lag), None) => format!("{plugin} is {lag} blocks behind"),
        (None, None, _) => format!("{plugin} is {}", state.name()),
    }
}

impl Progress {
    pub fn is_off(&self, reason: &str) {
        self.enters(IndexState::Off, Some(reason));
    }

    pub fn is_stopped(&self, reason: &str) {
        self.enters(IndexState::Stopped, Some(reason));
    }

    pub fn fails(&self, reason: &str) {
        self.enters(IndexState::Failing, Some(reason));
    }

    pub fn is_elsewhere(&self, known: &Known, head: Option<u64>) {
        self.enters(IndexState::Elsewhere, known.holder.as_ref().map(|_| "another gateway works on it"));
        let mut now = self.0.lock();
        now.report.start_block = Some(known.start);
        now.is_at(known.place.next);
        now.report.head = head;
        now.measure();
    }

    fn enters(&self, state: IndexState, reason: Option<&str>) {
        let mut now = self.0.lock();
        (now.report.state, now.report.reason) = (state, reason.map(str::to_owned));
        (now.report.left_s, now.report.blocks_per_s) = (None, 0);
        now.samples.clear();
        now.bar.hide();
    }

    /// The beginning of a turn.
    pub fn sees(&self, known: &Known, head: u64) {
        let mut now = self.0.lock();
        (now.report.start_block, now.report.head) = (Some(known.start), Some(head));
        now.is_at(known.place.next);
        now.settle();
    }

    /// A commit.
    pub fn wrote(&self, to: &Place, events: usize) {
        let mut now = self.0.lock();
        let added = u64::try_from(events).unwrap_or(u64::MAX);
        now.report.events = now.report.events.saturating_add(added);
        metrics::counter!("chain_events_total", "plugin" => now.report.plugin.clone()).increment(added);
        let moment = Instant::now();
        now.samples.push_back((moment, to.next));
        while now.samples.front().is_some_and(|(at, _)| moment.duration_since(*at) > RATE_WINDOW) {
            now.samples.pop_front();
        }
        now.is_at(to.next);
        now.settle();
    }
}

impl Now {
    fn is_at(&mut self, next: u64) {
        self.report.indexed_block = next.checked_sub(1).filter(|_| Some(next) > self.report.start_block);
        if let Some(block) = self.report.indexed_block {
            let labels = [("plugin", self.report.plugin.clone())];
            metrics::gauge!("chain_indexed_block", &labels).set(gateway_chain::exact(block));
        }
    }

    /// State, rate and time left from where it is and where it wants to be.
    fn settle(&mut self) {
        self.measure();
        let is_behind = self.report.lag_blocks.is_some_and(|lag| lag > LAG_BLOCKS_MAX);
        let before = self.report.state;
        self.report.state = if is_behind { IndexState::Backfilling } else { IndexState::Following };
        self.report.reason = None;
        if is_behind {
            self.bar.show(&self.report);
            self.tell();
        } else if before == IndexState::Backfilling {
            self.bar.hide();
            let IndexReport { plugin, indexed_block, events, .. } = &self.report;
            tracing::info!(plugin, indexed_block, events, "the index has reached the head");
        }
    }

    fn measure(&mut self) {
        self.report.compare_with(None);
        let (Some((since, from)), Some((until, to))) = (self.samples.front(), self.samples.back()) else { return };
        let took_ms = until.duration_since(*since).as_millis();
        if took_ms == 0 {
            return;
        }
        let per_s = u128::from(to.saturating_sub(*from)) * 1000 / took_ms;
        self.report.blocks_per_s = u64::try_from(per_s).unwrap_or(u64::MAX);
        self.report.left_s = match (self.report.lag_blocks, self.report.blocks_per_s) {
            (Some(lag), rate) if rate > 0 && lag > LAG_BLOCKS_MAX => Some(lag / rate),
            _ => None,
        };
    }

    fn tell(&mut self) {
        if self.logged.is_some_and(|at| at.elapsed() < LOG_INTERVAL) {
            return;
        }
        self.logged = Some(Instant::now());
        let IndexReport { plugin, indexed_block, head, blocks_per_s, left_s, .. } = &self.report;
        tracing::info!(plugin, indexed_block, head, blocks_per_s, left_s, "the index is on its way through the past");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::Address;

    fn indexes(reports: impl IntoIterator<Item = IndexReport>) -> Indexes {
        let indexes = Indexes::default();
        for report in reports {
            let progress = indexes.open(&report.plugin, LogFormat::Json);
            progress.0.lock().report = report;
        }
        indexes
    }

    fn at(plugin: &str, state: IndexState, block: u64) -> IndexReport {
        let (plugin, block) = (plugin.to_owned(), Some(block));
        IndexReport { plugin, state, indexed_block: block, head: block, lag_blocks: Some(0), ..IndexReport::default() }
    }

    fn told(indexes: &Indexes, head: Option<u64>) -> Value {
        let contracts = ["registry", "x402vault"].map(|key| (key.to_owned(), Address([1; 20]))).into();
        let chain = ChainConfig { contracts, deploy_block: Some(7), block_time_s: 5, ..ChainConfig::default() };
        json!(indexes.services(&chain, head))
    }

    #[test]
    fn an_index_that_stands_still_is_behind_though_it_believes_otherwise() {
        let indexes = indexes([at("quick", IndexState::Following, 99), at("stuck", IndexState::Following, 60)]);
        let services = told(&indexes, Some(100));
        let indexer = &services["indexer"];
        assert_eq!((&indexer["ok"], &indexer["detail"]), (&json!(false), &json!("stuck is 40 blocks behind")));
        assert_eq!([&indexer["lagBlocks"], &indexer["lagSeconds"], &indexer["indexedBlock"]], [40, 200, 60]);
        let lags = |place: usize| {
            let index = &indexer["indexes"][place];
            (index["plugin"].clone(), index["lagBlocks"].clone(), index["lagSeconds"].clone())
        };
        assert_eq!(lags(0), (json!("quick"), json!(1), json!(5)));
        assert_eq!(lags(1), (json!("stuck"), json!(40), json!(200)));
        assert_eq!(
            (&services["v3indexer"]["ok"], &services["v3indexer"]["backfilled"]),
            (&json!(false), &json!(false))
        );
        assert_eq!(told(&indexes, Some(90))["indexer"]["ok"], true, "30 blocks are no trouble");
    }

    #[test]
    fn without_a_head_what_was_seen_last_counts() {
        let indexes = indexes([at("one", IndexState::Following, 99)]);
        let services = told(&indexes, None);
        assert_eq!(
            services["v3indexer"],
            json!({
                "ok": true, "contracts": ["x402Vault"], "deployBlock": 7, "backfilled": true, "indexedBlock": 99,
                "lagBlocks": 0
            })
        );
        assert_eq!(services["indexer"]["ok"], true);
    }

    #[test]
    fn an_index_that_fails_or_stopped_is_not_well_at_the_head_either() {
        for state in [IndexState::Failing, IndexState::Stopped] {
            let report = IndexReport { reason: Some("why".to_owned()), ..at("one", state, 99) };
            let services = told(&indexes([report]), Some(99));
            let detail = format!("one is {}: why", state.name());
            assert_eq!((&services["indexer"]["ok"], &services["indexer"]["detail"]), (&json!(false), &json!(detail)));
        }
    }

    #[test]
    fn nothing_to_index_is_no_trouble() {
        let services = told(&indexes([at("off", IndexState::Off, 1)]), Some(5));
        let indexer = &services["indexer"];
        assert_eq!([&indexer["ok"], &indexer["enabled"]], [true, false]);
        assert_eq!((&indexer["lagBlocks"], &services["v3indexer"]["backfilled"]), (&json!(null), &json!(false)));
    }
}
