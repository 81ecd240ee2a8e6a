//! What operators decide about plugins, the audit table of what they did, and what plugins offer and show them.
//!
//! The rule: a decision about a plugin is stored before it takes effect, and holds until the opposite command: it
//! outranks the configuration at every later start.

mod controls;
mod plugin_history;
mod purge;
mod reports;

pub use controls::{Controls, PluginControls, PressError};
pub use plugin_history::PluginHistory;
pub use purge::{Purge, PurgeError, PurgePlan, TableRows};
pub use reports::{PluginReports, REPORT_ROWS_MAX, ReportError, Reports};

use gateway_storage::{Database, StorageError};
use plugin_api::{abi::Statement, manifest::MigrationSpec, sql};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Of [`migration`] among the gateway's own.
const MIGRATION_VERSION: u32 = 4;

const TABLES: &str = "
CREATE TABLE host_plugin_switches (
    plugin TEXT NOT NULL PRIMARY KEY,
    enabled BIGINT NOT NULL CHECK (enabled IN (0, 1)),
    changed_ms BIGINT NOT NULL,
    changed_by TEXT NOT NULL
);
CREATE TABLE host_audit (
    id {{id}},
    at_ms BIGINT NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    outcome TEXT NOT NULL
);
";

pub(crate) fn migration() -> MigrationSpec {
    MigrationSpec::new(MIGRATION_VERSION, "operators", TABLES)
}

/// What [`Operators::record`] executes, for the transaction of what was done.
pub(crate) fn record_statement(who: &str, action: &str, subject: &str, outcome: &str, now_ms: i64) -> Statement {
    let insert = sql("INSERT INTO host_audit (at_ms, who, action, subject, outcome) VALUES ($1, $2, $3, $4, $5)");
    insert.bind(now_ms).bind(who).bind(action).bind(subject).bind(outcome).into()
}

/// By plugin: whether an operator switched it on or off.
pub type Switches = BTreeMap<String, bool>;

/// One action of an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    pub id: i64,
    /// Unix milliseconds.
    pub at_ms: i64,
    /// The address that the command came from.
    pub who: String,
    pub action: String,
    /// The name of the plugin, or empty.
    pub subject: String,
    pub outcome: String,
}

/// The tables of the operators.
#[derive(Clone)]
pub struct Operators {
    database: Database,
}

impl Operators {
    pub fn new(database: Database) -> Self {
        Self { database }
    }

    pub async fn switches(&self) -> Result<Switches, StorageError> {
        let rows: Vec<(String, i64)> =
            self.database.fetch_all(sql("SELECT plugin, enabled FROM host_plugin_switches")).await?;
        Ok(rows.into_iter().map(|(plugin, enabled)| (plugin, enabled != 0)).collect())
    }

    /// The same for a database that no gateway of this version may have opened yet.
    pub async fn switches_if_any(&self) -> Result<Switches, StorageError> {
        if self.is_migrated().await? { self.switches().await } else { Ok(Switches::new()) }
    }

    /// Whether the tables are there: a gateway of this version has opened the database.
    pub async fn is_migrated(&self) -> Result<bool, StorageError> {
        let applied = self.database.migration_status(Some("host")).await?;
        Ok(applied.iter().any(|migration| migration.version == MIGRATION_VERSION))
    }

    pub async fn switch(&self, plugin: &str, enabled: bool, now_ms: i64, who: &str) -> Result<(), StorageError> {
        let statement = sql("INSERT INTO host_plugin_switches (plugin, enabled, changed_ms, changed_by) \
             VALUES ($1, $2, $3, $4) ON CONFLICT (plugin) DO UPDATE SET \
             enabled = excluded.enabled, changed_ms = excluded.changed_ms, changed_by = excluded.changed_by");
        self.database.execute(statement.bind(plugin).bind(i64::from(enabled)).bind(now_ms).bind(who)).await.map(drop)
    }

    pub async fn record(
        &self,
        who: &str,
        action: &str,
        subject: &str,
        outcome: &str,
        now_ms: i64,
    ) -> Result<(), StorageError> {
        self.database.execute(record_statement(who, action, subject, outcome, now_ms)).await.map(drop)
    }

    /// The latest actions, newest first.
    pub async fn audit(&self, rows: u32) -> Result<Vec<AuditRow>, StorageError> {
        let statement =
            sql("SELECT id, at_ms, who, action, subject, outcome FROM host_audit ORDER BY id DESC LIMIT $1");
        self.database.fetch_all(statement.bind(rows)).await
    }
}
