//! Whether the gateway keeps what it is given: `/ready` of the operator's listener, and `ok` of `/api/health`.
//!
//! The rule: it is ready only when a write was stored just now and no write of a client has failed since. A question costs
//! at most one small write a second, however many ask.

use crate::lifecycle::PluginManager;
use gateway_clock::Clock;
use gateway_storage::{Database, StorageError};
use parking_lot::RwLock;
use plugin_api::{manifest::MigrationSpec, sql};
use serde::Serialize;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::Mutex;

const TABLE: &str = "
CREATE TABLE host_health (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    written_ms BIGINT NOT NULL
);
";

pub(crate) fn migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "health", TABLE)
}

/// How long the result of a test write holds.
const PROBE_AGE_MAX: Duration = Duration::from_secs(1);
/// A write that takes longer is no longer waited for.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a failed write of a client outweighs a test write that succeeded: a test write is small, and fits where
/// others no longer do.
const FAILURE_WINDOW: Duration = Duration::from_secs(3);
/// With less room on the disk, what can still be written is left over from earlier.
const FREE_DISK_BYTES_MIN: u64 = 1024 * 1024;

/// What is wrong, in a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HealthReport {
    /// Whether writes are kept, and every required plugin serves.
    pub ok: bool,
    /// Why writes cannot be kept.
    pub database: Option<String>,
    /// The required plugins that do not serve, with the reason.
    pub plugins: Vec<String>,
}

pub struct HealthMonitor {
    database: Database,
    clock: Clock,
    plugins: Arc<PluginManager>,
    required: RwLock<Vec<String>>,
    /// Locked during a test write, so that all who ask meanwhile share it.
    probe: Mutex<Option<ProbedWrite>>,
}

struct ProbedWrite {
    at: Instant,
    result: Result<(), String>,
}

impl HealthMonitor {
    pub fn new(database: Database, clock: Clock, plugins: Arc<PluginManager>, required: Vec<String>) -> Self {
        Self { database, clock, plugins, required: RwLock::new(required), probe: Mutex::default() }
    }

    /// Replaces the names of the required plugins.
    pub fn require(&self, required: Vec<String>) {
        *self.required.write() = required;
    }

    pub async fn report(&self) -> HealthReport {
        let (database, plugins) = (self.database_problem().await, self.missing_plugins());
        HealthReport { ok: database.is_none() && plugins.is_empty(), database, plugins }
    }

    /// The required plugins that do not serve, with the reason.
    pub(crate) fn missing_plugins(&self) -> Vec<String> {
        self.plugins.not_serving(&self.required.read())
    }

    /// Why the database keeps no writes now.
    pub(crate) async fn database_problem(&self) -> Option<String> {
        let database = &self.database;
        if let Some(free) = database.free_disk_bytes().filter(|free| *free < FREE_DISK_BYTES_MIN) {
            return Some(format!("the disk is full: {free} bytes are free"));
        }
        if let Some(reason) = database.write_failure_within(FAILURE_WINDOW) {
            return Some(reason);
        }
        self.probe_write().await.err()
    }

    async fn probe_write(&self) -> Result<(), String> {
        let mut probe = self.probe.lock().await;
        if let Some(probed) = probe.as_ref().filter(|probed| probed.at.elapsed() < PROBE_AGE_MAX) {
            return probed.result.clone();
        }
        let result = match tokio::time::timeout(PROBE_TIMEOUT, self.write_row()).await {
            Ok(written) => written.map_err(|error| error.to_string()),
            Err(_elapsed) => Err(format!("a write takes longer than {PROBE_TIMEOUT:?}")),
        };
        *probe = Some(ProbedWrite { at: Instant::now(), result: result.clone() });
        result
    }

    async fn write_row(&self) -> Result<(), StorageError> {
        let database = &self.database;
        database.probe().await?;
        let statement = sql("INSERT INTO host_health (id, written_ms) VALUES (1, $1) \
             ON CONFLICT (id) DO UPDATE SET written_ms = excluded.written_ms");
        match database.execute(statement.bind(self.clock.now_ms())).await {
            // Two replicas that ask at the same time: the other one's write is as good.
            Ok(_) | Err(StorageError::Conflict(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
