//! Gateways on one PostgreSQL database: an operator's switch at one of them reaches the others, and each tells how its plugins are.
//!
//! The rule: a switch is what the database holds, whichever gateway stored it. A gateway that is away for a while takes it over when
//! it comes back; one that is silent is shown as silent, not as it was.

use crate::lifecycle::PluginManager;
use gateway_clock::Clock;
use gateway_storage::{CommitStatement, Database, Dialect, Scope, StorageError};
use plugin_api::sql;
use serde::Serialize;
use std::{collections::BTreeMap, fs, net::SocketAddr, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub const MIGRATION: &str = "
CREATE TABLE host_replicas (
    instance TEXT NOT NULL PRIMARY KEY,
    address TEXT NOT NULL,
    version TEXT NOT NULL,
    seen_ms BIGINT NOT NULL,
    plugins TEXT NOT NULL
);
";

/// Between two looks at the switches of others.
const INTERVAL: Duration = Duration::from_secs(2);
/// A gateway that has nothing new to tell does so after as long.
const HEARTBEAT_MS: i64 = 10_000;
/// After that a gateway counts as silent: it has missed three times.
const SILENT_MS: i64 = 30_000;
/// A gateway that was killed leaves its row behind.
const FORGET_MS: i64 = 3_600_000;
const HOSTNAME: &str = "/proc/sys/kernel/hostname";

/// The state of each plugin, by its name.
type PluginStates = BTreeMap<String, String>;

/// One gateway of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaReport {
    /// Machine and port.
    pub address: String,
    pub version: String,
    /// Unix milliseconds.
    pub seen_ms: i64,
    /// It has told nothing for half a minute: what it told may not hold any more.
    pub is_silent: bool,
    /// The one that answers.
    pub is_this: bool,
    pub plugins: PluginStates,
}

/// The table of the gateways on this database.
#[derive(Clone)]
pub struct Replicas {
    database: Database,
    clock: Clock,
    instance: String,
}

impl Replicas {
    pub fn new(database: Database, clock: Clock) -> Self {
        Self { database, clock, instance: Uuid::now_v7().to_string() }
    }

    /// All of them, by address; none on SQLite, which one gateway has for itself.
    pub async fn reports(&self) -> Result<Vec<ReplicaReport>, StorageError> {
        if self.database.dialect() == Dialect::Sqlite {
            return Ok(Vec::new());
        }
        let statement = sql("SELECT instance, address, version, seen_ms, plugins FROM host_replicas \
             ORDER BY address, instance");
        let rows: Vec<(String, String, String, i64, String)> = self.database.fetch_all(statement).await?;
        let now_ms = self.clock.now_ms();
        let report = |(instance, address, version, seen_ms, plugins): (String, String, String, i64, String)| {
            let plugins = serde_json::from_str(&plugins).unwrap_or_default();
            let (is_silent, is_this) = (now_ms.saturating_sub(seen_ms) > SILENT_MS, instance == self.instance);
            ReplicaReport { address, version, seen_ms, is_silent, is_this, plugins }
        };
        Ok(rows.into_iter().map(report).collect())
    }

    async fn tell(&self, address: &str, plugins: &str) -> Result<(), StorageError> {
        let now_ms = self.clock.now_ms();
        let tell = sql(
            "INSERT INTO host_replicas (instance, address, version, seen_ms, plugins) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (instance) DO UPDATE SET seen_ms = excluded.seen_ms, plugins = excluded.plugins",
        );
        let tell = tell.bind(&*self.instance).bind(address).bind(env!("CARGO_PKG_VERSION")).bind(now_ms).bind(plugins);
        let forget = sql("DELETE FROM host_replicas WHERE seen_ms < $1").bind(now_ms.saturating_sub(FORGET_MS));
        let statements = [tell, forget].map(|statement| CommitStatement::new(statement.into())).into();
        self.database.begin(Scope::Host).commit(statements).await.map(drop)
    }

    async fn leave(&self) -> Result<(), StorageError> {
        let leave = sql("DELETE FROM host_replicas WHERE instance = $1").bind(&*self.instance);
        self.database.execute(leave).await.map(drop)
    }
}

/// Takes over the switches of other gateways and tells them of this one, until the stop. `bound`: where it listens.
pub async fn follow(replicas: Replicas, plugins: Arc<PluginManager>, bound: SocketAddr, stop: CancellationToken) {
    if replicas.database.dialect() == Dialect::Sqlite {
        return;
    }
    let machine = fs::read_to_string(HOSTNAME).unwrap_or_default();
    let address = format!("{}:{}", machine.trim(), bound.port());
    let (mut told, mut told_ms) = (String::new(), 0);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        // A database that is away is told elsewhere.
        if let Err(error) = plugins.follow_switches().await {
            tracing::debug!(%error, "the switches of other gateways cannot be read now");
            continue;
        }
        let states: PluginStates =
            plugins.reports().into_iter().map(|report| (report.name, report.state.to_string())).collect();
        let states = serde_json::to_string(&states).unwrap_or_default();
        let now_ms = replicas.clock.now_ms();
        if (states != told || now_ms.saturating_sub(told_ms) >= HEARTBEAT_MS)
            && replicas.tell(&address, &states).await.is_ok()
        {
            (told, told_ms) = (states, now_ms);
        }
    }
    if let Err(error) = replicas.leave().await {
        tracing::debug!(%error, "the others will take this gateway for silent");
    }
}
