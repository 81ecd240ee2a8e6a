//! The indexes of this gateway, and the services `indexer` and `v3indexer` of `/api/status`.

use super::{
    progress::Progress,
    report::{IndexReport, IndexState, LAG_BLOCKS_MAX},
};
use gateway_config::{ChainConfig, LogFormat, MAIN};
use parking_lot::Mutex;
use plugin_api::point::ServiceStatus;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio::sync::watch;

/// The progress of each index.
#[derive(Default)]
pub struct Indexes {
    /// By plugin and chain.
    progress: Mutex<BTreeMap<(String, String), Arc<Progress>>>,
    /// Counts the changes of all indexes.
    changes: watch::Sender<u64>,
    /// The changes after which the publisher of each chain had nothing left to publish.
    published: Mutex<BTreeMap<String, u64>>,
}

/// A chain at the moment of a report.
pub struct ChainState<'c> {
    pub settings: &'c ChainConfig,
    pub head: Option<u64>,
}

impl Indexes {
    pub(super) fn open(&self, plugin: &str, chain: &str, format: LogFormat) -> Arc<Progress> {
        let progress = Arc::new(Progress::new(plugin, chain, format, self.changes.clone()));
        self.progress.lock().insert((plugin.to_owned(), chain.to_owned()), progress.clone());
        progress
    }

    /// One report per plugin and chain that it indexes, by name.
    pub fn reports(&self) -> Vec<IndexReport> {
        self.progress.lock().values().map(|progress| progress.report()).collect()
    }

    /// The plugins whose index on the chain runs, or is about to.
    pub(super) fn running(&self, chain: &str) -> BTreeSet<String> {
        let mut running = self.reports();
        running.retain(|report| report.chain == chain && report.is_running());
        running.into_iter().map(|report| report.plugin).collect()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn set_published(&self, chain: &str, changes: u64) {
        self.published.lock().insert(chain.to_owned(), changes);
    }

    /// Whether every event that can be public is.
    pub fn are_published(&self) -> bool {
        let changes = *self.changes.borrow();
        self.published.lock().values().all(|published| *published == changes)
    }

    /// The last block of the main chain that every index has; `None` while all are off.
    pub fn indexed_block(&self) -> Option<u64> {
        let reports = self.reports();
        let on = reports.iter().filter(|report| report.chain == MAIN && report.state != IndexState::Off);
        on.map(|report| report.indexed_block).min().flatten()
    }

    /// The services `indexer`, of all indexes, and `v3indexer`, the same about the contracts other than registry and
    /// escrow. Blocks and lags of the whole are those of the main chain. A lag is measured against the present head of its chain,
    /// so that an index whose task hangs shows as behind. `indexed`: the contracts of the main chain whose events some plugin
    /// derives rows from.
    pub fn services<'c>(
        &self,
        main: &ChainConfig,
        indexed: &BTreeSet<String>,
        chain: impl Fn(&str) -> Option<ChainState<'c>>,
    ) -> BTreeMap<String, ServiceStatus> {
        let mut on = self.reports();
        on.retain(|report| report.state != IndexState::Off);
        on.iter_mut().for_each(|report| report.update_lag(chain(&report.chain).and_then(|chain| chain.head)));
        let failing: Vec<String> = on.iter().filter(|report| !report.is_ok()).map(IndexReport::describe).collect();
        let detail = if on.is_empty() { Some("no plugin indexes".to_owned()) } else { None };
        let detail = detail.or_else(|| (!failing.is_empty()).then(|| failing.join("; ")));
        let service = |members: Value| {
            let numbers = members.as_object().cloned().unwrap_or_default();
            let enabled = on.is_empty().then_some(false);
            ServiceStatus { ok: failing.is_empty(), enabled, detail: detail.clone(), numbers }
        };
        let on_main = on.iter().filter(|report| report.chain == MAIN);
        let lag_blocks = on_main.filter_map(|report| report.lag_blocks).max();
        let lag_seconds = |settings: &ChainConfig, blocks: u64| blocks.saturating_mul(settings.block_time_s.into());
        let index = |report: &IndexReport| {
            let mut index = json!(report);
            let settings = chain(&report.chain).map(|chain| chain.settings);
            let lag = settings.zip(report.lag_blocks);
            index["lagSeconds"] = json!(lag.map(|(settings, blocks)| lag_seconds(settings, blocks)));
            index
        };
        let is_indexed = |key: &String| indexed.iter().any(|indexed| indexed.eq_ignore_ascii_case(key));
        let deployed = main.deployed_contracts().into_keys();
        let contracts: Vec<String> = deployed.filter(|key| !is_core_contract(key) && is_indexed(key)).collect();
        let is_near = |report: &IndexReport| report.lag_blocks.is_some_and(|lag| lag <= LAG_BLOCKS_MAX);
        let indexer = service(json!({
            "indexedBlock": self.indexed_block(),
            "lagBlocks": lag_blocks,
            "lagSeconds": lag_blocks.map(|blocks| lag_seconds(main, blocks)),
            "deployBlock": main.deploy_block,
            "pollMs": main.poll_ms,
            "indexes": on.iter().map(index).collect::<Vec<_>>(),
        }));
        let v3_indexer = service(json!({
            "contracts": contracts,
            "deployBlock": main.deploy_block,
            "backfilled": !on.is_empty() && on.iter().all(is_near),
            "indexedBlock": self.indexed_block(),
            "lagBlocks": lag_blocks,
        }));
        BTreeMap::from([("indexer".to_owned(), indexer), ("v3indexer".to_owned(), v3_indexer)])
    }
}

/// The services `indexer` and `v3indexer` of a gateway that reads no chain.
pub fn unconfigured_services() -> BTreeMap<String, ServiceStatus> {
    let service = |members: Value| ServiceStatus {
        ok: false,
        enabled: Some(false),
        detail: Some("no chain is configured: add a section [chains.main]".to_owned()),
        numbers: members.as_object().cloned().unwrap_or_default(),
    };
    let indexer = service(json!({
        "indexedBlock": null, "lagBlocks": null, "lagSeconds": null, "deployBlock": null, "pollMs": null, "indexes": [],
    }));
    let v3_indexer = service(json!({
        "contracts": [], "deployBlock": null, "backfilled": false, "indexedBlock": null, "lagBlocks": null,
    }));
    BTreeMap::from([("indexer".to_owned(), indexer), ("v3indexer".to_owned(), v3_indexer)])
}

/// The contracts of the first version, which `v3indexer` leaves out.
fn is_core_contract(key: &str) -> bool {
    ["registry", "escrow"].iter().any(|core| core.eq_ignore_ascii_case(key))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::Address;

    fn indexes(reports: impl IntoIterator<Item = IndexReport>) -> Indexes {
        let progress = |report: IndexReport| {
            let index = (report.plugin.clone(), report.chain.clone());
            (index, Arc::new(Progress::with_report(report, LogFormat::Json, watch::Sender::new(0))))
        };
        Indexes { progress: Mutex::new(reports.into_iter().map(progress).collect()), ..Indexes::default() }
    }

    fn at(plugin: &str, state: IndexState, block: u64) -> IndexReport {
        let (plugin, chain, block) = (plugin.to_owned(), MAIN.to_owned(), Some(block));
        IndexReport {
            plugin,
            chain,
            state,
            indexed_block: block,
            head: block,
            lag_blocks: Some(0),
            ..IndexReport::default()
        }
    }

    fn services(indexes: &Indexes, head: Option<u64>) -> Value {
        let contracts = ["registry", "x402vault", "treasury"].map(|key| (key.to_owned(), Address([1; 20]))).into();
        let chain = ChainConfig { contracts, deploy_block: Some(7), block_time_s: 5, ..ChainConfig::default() };
        let indexed = BTreeSet::from(["registry".to_owned(), "x402Vault".to_owned()]);
        json!(indexes.services(&chain, &indexed, |_| Some(ChainState { settings: &chain, head })))
    }

    #[test]
    fn an_index_that_hangs_is_behind_though_its_last_report_says_otherwise() {
        let indexes = indexes([at("quick", IndexState::Following, 99), at("stuck", IndexState::Following, 60)]);
        let status = services(&indexes, Some(100));
        let indexer = &status["indexer"];
        assert_eq!((&indexer["ok"], &indexer["detail"]), (&json!(false), &json!("stuck is 40 blocks behind")));
        assert_eq!([&indexer["lagBlocks"], &indexer["lagSeconds"], &indexer["indexedBlock"]], [40, 200, 60]);
        let lags = |position: usize| {
            let index = &indexer["indexes"][position];
            (index["plugin"].clone(), index["lagBlocks"].clone(), index["lagSeconds"].clone())
        };
        assert_eq!(lags(0), (json!("quick"), json!(1), json!(5)));
        assert_eq!(lags(1), (json!("stuck"), json!(40), json!(200)));
        assert_eq!((&status["v3indexer"]["ok"], &status["v3indexer"]["backfilled"]), (&json!(false), &json!(false)));
        assert_eq!(services(&indexes, Some(90))["indexer"]["ok"], true, "a lag of 30 blocks is ok");
    }

    #[test]
    fn without_a_head_the_last_known_head_counts() {
        let indexes = indexes([at("one", IndexState::Following, 99)]);
        let status = services(&indexes, None);
        assert_eq!(
            status["v3indexer"],
            json!({
                "ok": true, "contracts": ["x402Vault"], "deployBlock": 7, "backfilled": true, "indexedBlock": 99,
                "lagBlocks": 0
            })
        );
        assert_eq!(status["indexer"]["ok"], true);
    }

    #[test]
    fn a_contract_that_is_deployed_and_that_nobody_indexes_is_left_out() {
        let status = services(&indexes([at("one", IndexState::Following, 99)]), Some(99));
        assert_eq!(status["v3indexer"]["contracts"], json!(["x402Vault"]), "not the treasury");
    }

    #[test]
    fn an_index_that_fails_or_stopped_is_not_ok_even_at_the_head() {
        for state in [IndexState::Failing, IndexState::Stopped] {
            let report = IndexReport { reason: Some("why".to_owned()), ..at("one", state, 99) };
            let status = services(&indexes([report]), Some(99));
            let detail = format!("one is {}: why", state.name());
            assert_eq!((&status["indexer"]["ok"], &status["indexer"]["detail"]), (&json!(false), &json!(detail)));
        }
    }

    #[test]
    fn without_indexes_the_service_is_ok_and_not_enabled() {
        let status = services(&indexes([at("off", IndexState::Off, 1)]), Some(5));
        let indexer = &status["indexer"];
        assert_eq!([&indexer["ok"], &indexer["enabled"]], [true, false]);
        assert_eq!((&indexer["lagBlocks"], &status["v3indexer"]["backfilled"]), (&json!(null), &json!(false)));
    }
}
