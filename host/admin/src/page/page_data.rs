//! What the operator's page shows.

use gateway::{
    ReplicaReport, Resources,
    health::HealthReport,
    operators::{AuditRow, PluginControls, PluginReports},
};
use gateway_chain::ChainReport;
use gateway_indexer::IndexReport;
use gateway_jobs::JobStatus;
use gateway_plugins::PluginReport;
use gateway_storage::StorageError;
use gateway_telemetry::{HistogramSnapshot, TrafficInterval};
use gateway_tx::{AccountReport, TransactionReport};
use plugin_api::manifest::ActivityRow;
use std::collections::BTreeMap;

/// What the page shows. A part that cannot be read shows the reason.
pub(crate) struct PageData {
    pub now_ms: i64,
    pub public_url: String,
    pub health: Result<HealthReport, StorageError>,
    /// The services of `/api/status` that are not ok, with the reason.
    pub services: Result<Vec<(String, String)>, StorageError>,
    pub controls: Result<Vec<PluginControls>, StorageError>,
    /// The oldest first.
    pub traffic: Vec<TrafficInterval>,
    /// Without their rows.
    pub reports: Result<Vec<PluginReports>, StorageError>,
    pub plugins: Vec<PluginLine>,
    /// Every gateway on the database; none where there is only this one.
    pub replicas: Result<Vec<ReplicaReport>, StorageError>,
    pub resources: Resources,
    /// How often each limit refused somebody since the gateway started.
    pub refusals: BTreeMap<String, u64>,
    /// Tasks by plugin, queue and state.
    pub queues: BTreeMap<String, f64>,
    pub log_level: String,
    /// `plugins.memory_warn_mib`; 0: a share of what there is.
    pub memory_warn_mib: u64,
    pub chains: Vec<ChainReport>,
    pub accounts: Vec<AccountReport>,
    pub unfinished: Result<Vec<TransactionReport>, StorageError>,
    pub indexes: Vec<IndexReport>,
    pub jobs: Result<Vec<JobStatus>, StorageError>,
    pub activity: Result<Vec<ActivityRow>, StorageError>,
    pub audit: Result<Vec<AuditRow>, StorageError>,
}

/// One plugin, and how long its answers have taken since the gateway started.
pub(crate) struct PluginLine {
    pub report: PluginReport,
    pub latency: HistogramSnapshot,
}
