//! When the database was restored: rows that a restore adds in the same step that puts the backup in the place of the database.
//!
//! The rule: a restored database says so from its first moment on. What was promised since the backup is not in it, and whoever
//! keeps promises has to know.

use crate::{database::Database, error::StorageError};
use plugin_api::{manifest::MigrationSpec, sql};

/// A restore makes the table, too: the backup may be older than the migration.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS host_restores (restored_ms BIGINT NOT NULL)";

pub fn restores_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "restores", TABLE)
}

/// What a restore adds to the database, as text.
pub(crate) fn record_text(restored_ms: i64) -> String {
    format!("{TABLE}; INSERT INTO host_restores (restored_ms) VALUES ({restored_ms});")
}

/// When the database was restored last, in Unix milliseconds; `None` for one that never was.
pub async fn last_restore_ms(database: &Database) -> Result<Option<i64>, StorageError> {
    let newest: Vec<Option<i64>> = database.fetch_all(sql("SELECT max(restored_ms) FROM host_restores")).await?;
    Ok(newest.into_iter().next().flatten())
}

/// Records a restore that another program has made.
pub async fn record_restore(database: &Database, restored_ms: i64) -> Result<(), StorageError> {
    let insert = sql("INSERT INTO host_restores (restored_ms) VALUES ($1)").bind(restored_ms);
    database.execute(insert).await.map(drop)
}
