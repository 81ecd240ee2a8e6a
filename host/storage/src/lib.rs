//! The database, SQLite or PostgreSQL, behind one interface with one behaviour.
//!
//! The rule that must not break: **a write is acknowledged only when it is durable. A call that returns an error has written
//! nothing, except a commit on PostgreSQL whose answer was lost: that write took effect once or not at all**, and the gateway
//! finds out which (README.md). The suite in `tests/it/storage/` runs on both databases.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod backup;
mod caching;
mod check;
mod commit_statement;
mod database;
mod dialect;
mod error;
mod host_name;
mod in_use;
mod migrations;
mod plugin_objects;
mod postgres;
mod replace_file;
mod restores;
mod scope;
mod settings;
#[cfg(feature = "simulation")]
mod simulation;
mod sqlite;
mod standby;
mod statements;
mod transaction;

#[cfg(test)]
mod fuzz;

pub use backup::{BackupError, BackupManifest, BackupOrigin, RestoreReport, RestoreRequest, manifest_path, restore};
pub use caching::{
    ChangeCount, OwnerRevision, ReadDependencies, Revision, Revisions, read_tracking, versions_migration,
};
pub use check::CheckedStatement;
pub use commit_statement::CommitStatement;
pub use database::{Database, DatabaseResources, GatewayDescription, PoolStatus, ReadAttempt, RegisteredGateway};
pub use dialect::Dialect;
pub use error::StorageError;
pub use host_name::host_name;
pub use in_use::is_in_use;
pub use migrations::{AppliedMigration, MigrationReport, MigrationSet, migration_problems};
pub use plugin_objects::PluginObjects;
pub use postgres::Notifications;
pub use replace_file::{remove_unfinished, replace_file, replace_file_durably};
pub use restores::{last_restore_ms, record_restore, restores_migration};
pub use scope::{HOST_OWNER, Isolation, Scope, ViewNames, is_reserved, shares_tables};
pub use settings::DatabaseSettings;
#[cfg(feature = "simulation")]
pub use simulation::{Faults, SimulatedPostgres, SimulationCounts};
pub use standby::ReadSource;
pub use statements::{bounds, decode_rows};
pub use transaction::Transaction;
