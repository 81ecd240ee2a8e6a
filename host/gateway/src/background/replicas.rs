//! Gateways on one PostgreSQL database: an operator's switch at one of them reaches the others, and each tells how its plugins are.
//!
//! The rule: a switch is what the database holds, whichever gateway stored it. A gateway that is away for a while takes it over when
//! it comes back; one that is silent is shown as silent, not as it was.

use crate::lifecycle::PluginManager;
use gateway_clock::Clock;
use gateway_storage::{Database, Dialect, GatewayDescription, RegisteredGateway, StorageError, host_name};
use plugin_api::manifest::MigrationSpec;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const TABLE: &str = "
CREATE TABLE host_replicas (
    instance TEXT NOT NULL PRIMARY KEY,
    address TEXT NOT NULL,
    version TEXT NOT NULL,
    seen_ms BIGINT NOT NULL,
    plugins TEXT NOT NULL
);
";
/// What gateways tell of themselves is in the row of their registration, which no migration makes.
const WITHOUT_TABLE: &str = "DROP TABLE host_replicas;";

pub(crate) fn migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "replicas", TABLE)
}

pub(crate) fn without_table_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "replicas_in_registrations", WITHOUT_TABLE)
}

/// Between two looks at the switches of others, and at the own plugins.
const INTERVAL: Duration = Duration::from_secs(2);

/// One gateway of the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaReport {
    /// Machine and port.
    pub address: String,
    pub version: String,
    /// Since when it has the database open, in Unix milliseconds.
    pub since_ms: i64,
    /// When it was last heard of, in Unix milliseconds.
    pub seen_ms: i64,
    pub seen_ago_ms: i64,
    /// It was not heard of for 15 seconds: what it told may not hold any more.
    pub is_silent: bool,
    /// The one that answers.
    pub is_this: bool,
    /// The state of each plugin, by its name.
    pub plugins: BTreeMap<String, String>,
}

impl From<RegisteredGateway> for ReplicaReport {
    fn from(gateway: RegisteredGateway) -> Self {
        let RegisteredGateway { description, since_ms, seen_ms, seen_ago_ms, is_silent, is_this } = gateway;
        let GatewayDescription { name: address, version, plugins } = description;
        Self { address, version, since_ms, seen_ms, seen_ago_ms, is_silent, is_this, plugins }
    }
}

/// The plugins whose state is not the same at all gateways that answer.
pub fn differing_plugins(replicas: &[ReplicaReport]) -> Vec<&str> {
    let answering = || replicas.iter().filter(|replica| !replica.is_silent);
    let names: BTreeSet<&str> = answering().flat_map(|replica| replica.plugins.keys().map(String::as_str)).collect();
    let states = |name: &str| answering().map(|replica| replica.plugins.get(name)).collect::<BTreeSet<_>>();
    names.into_iter().filter(|name| states(name).len() > 1).collect()
}

/// The gateways on this database.
#[derive(Clone)]
pub struct Replicas {
    database: Database,
    clock: Clock,
    plugins: Arc<PluginManager>,
    started_ms: i64,
    /// Set when this one listens.
    address: Arc<OnceLock<String>>,
}

impl Replicas {
    pub(crate) fn new(database: Database, clock: Clock, plugins: Arc<PluginManager>) -> Self {
        let started_ms = clock.now_ms();
        Self { database, clock, plugins, started_ms, address: Arc::default() }
    }

    /// All of them, by address; on SQLite this one alone.
    pub async fn reports(&self) -> Result<Vec<ReplicaReport>, StorageError> {
        if self.database.dialect() == Dialect::Sqlite {
            return Ok(self.describe_this().map(|description| self.report_of_this(description)).into_iter().collect());
        }
        let gateways = self.database.registered_gateways().await?;
        Ok(gateways.into_iter().map(ReplicaReport::from).collect())
    }

    fn describe_this(&self) -> Option<GatewayDescription> {
        let name = self.address.get()?.clone();
        let states = self.plugins.reports().into_iter().map(|report| (report.name, report.state.to_string()));
        Some(GatewayDescription { name, version: env!("CARGO_PKG_VERSION").to_owned(), plugins: states.collect() })
    }

    fn report_of_this(&self, description: GatewayDescription) -> ReplicaReport {
        let GatewayDescription { name: address, version, plugins } = description;
        let seen_ms = self.clock.now_ms();
        ReplicaReport {
            address,
            version,
            since_ms: self.started_ms,
            seen_ms,
            seen_ago_ms: 0,
            is_silent: false,
            is_this: true,
            plugins,
        }
    }

    /// Takes over the switches of other gateways and tells them of this one, until the stop. `bound`: where it listens.
    pub(crate) async fn follow(self, bound: SocketAddr, stop: CancellationToken) {
        self.address.get_or_init(|| format!("{}:{}", host_name(), bound.port()));
        if self.database.dialect() == Dialect::Sqlite {
            return;
        }
        loop {
            if let Some(description) = self.describe_this() {
                self.database.describe_gateway(description);
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(INTERVAL) => {}
            }
            // A database that is away is told elsewhere.
            if let Err(error) = self.plugins.follow_switches().await {
                tracing::debug!(%error, "the switches of other gateways cannot be read now");
            }
        }
    }
}
