//! The database, SQLite or PostgreSQL, behind one interface with one behaviour.
//!
//! The rule that must not break: **a write is acknowledged only when it is durable. A call that returns an error has written
//! nothing, except a commit on PostgreSQL whose answer was lost: that write took effect once or not at all**, and the gateway
//! finds out which (README.md). The suite in `tests/it/storage/` runs on both databases.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod backup;
pub mod bounds;
mod check;
mod commit_statement;
mod current_revisions;
mod database;
mod database_size;
mod decode_rows;
mod dialect;
mod engine;
mod error;
mod gateway_description;
mod host_name;
mod in_use;
mod migrations;
mod plugin_objects;
mod postgres;
mod read_replica_routing;
mod read_replicas;
mod read_source;
pub mod read_tracking;
mod registered_gateways;
mod replace_file;
mod resources;
mod restores;
mod result_budget;
mod revisions;
mod row_count_compaction;
mod scope;
mod settings;
mod shared_read;
#[cfg(feature = "simulation")]
mod simulation;
mod slow_lines;
mod slow_statement;
mod sqlite;
mod statement_latency;
mod transaction;
mod versions;
mod wal_lsn;

#[cfg(test)]
mod fuzz;

pub use backup::{BackupError, BackupManifest, BackupOrigin, RestoreReport, RestoreRequest, manifest_path, restore};
pub use check::CheckedStatement;
pub use commit_statement::CommitStatement;
pub use database::{Database, ReadAttempt};
pub use decode_rows::decode_rows;
pub use dialect::Dialect;
pub use error::StorageError;
pub use gateway_description::GatewayDescription;
pub use host_name::host_name;
pub use in_use::is_in_use;
pub use migrations::{AppliedMigration, MigrationReport, MigrationSet, migration_problems};
pub use plugin_objects::PluginObjects;
pub use postgres::Notifications;
pub use read_source::ReadSource;
pub use read_tracking::ReadDependencies;
pub use registered_gateways::RegisteredGateway;
pub use replace_file::{remove_unfinished, replace_file, replace_file_durably};
pub use resources::{DatabaseResources, PoolStatus};
pub use restores::{last_restore_ms, record_restore, restores_migration};
pub use revisions::{OwnerRevision, Revision, Revisions};
pub use scope::{HOST_OWNER, Isolation, Scope, ViewNames, is_reserved, shares_tables};
pub use settings::DatabaseSettings;
#[cfg(feature = "simulation")]
pub use simulation::{Faults, SimulatedPostgres, SimulationCounts};
pub use transaction::Transaction;
pub use versions::{ChangeCount, versions_migration};
