//! Applies migrations on the writer's connection, between groups.

use super::{connection::Guarded, explain::explain};
use crate::StorageError;
use crate::migrate::{self, AppliedMigration, MigrationReport, RECORD_TABLE, Step};
use rusqlite::{Connection, params};

/// All pending steps in one transaction.
pub fn apply(guarded: &Guarded, owner: &str, steps: Vec<Step>) -> Result<MigrationReport, StorageError> {
    let connection = &guarded.connection;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(|e| explain(&e))?;
    let result = apply_inside(connection, owner, steps);
    let result = result.and_then(|report| {
        connection.execute_batch("COMMIT").map_err(|e| explain(&e))?;
        Ok(report)
    });
    if result.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(|e| explain(&e))?;
    }
    result
}

fn apply_inside(connection: &Connection, owner: &str, steps: Vec<Step>) -> Result<MigrationReport, StorageError> {
    let applied = applied_of(connection, Some(owner))?;
    let pending = migrate::pending(owner, steps, &applied)?;
    for step in &pending {
        run(connection, owner, step).map_err(|error| migrate::failed_step(owner, step, &error))?;
    }
    Ok(migrate::report(&pending, applied.len()))
}

fn run(connection: &Connection, owner: &str, step: &Step) -> Result<(), StorageError> {
    connection.execute_batch(&step.sql).map_err(|e| explain(&e))?;
    if connection.is_autocommit() {
        return Err(StorageError::statement("it ended the transaction that it runs in"));
    }
    connection
        .execute(
            "INSERT INTO _migrations (plugin, version, name, checksum, applied_at)
             VALUES (?1, ?2, ?3, ?4, unixepoch())",
            params![owner, step.version, step.name, step.checksum],
        )
        .map(|_| ())
        .map_err(|e| explain(&e))
}

/// All of the text in one transaction.
pub fn define(connection: &Connection, sql: &str) -> Result<(), StorageError> {
    let result = connection.execute_batch(&format!("BEGIN IMMEDIATE; {sql}; COMMIT"));
    if result.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(|e| explain(&e))?;
    }
    result.map_err(|e| explain(&e))
}

pub fn prepare(connection: &Connection) -> Result<(), StorageError> {
    connection.execute_batch(RECORD_TABLE).map_err(|e| explain(&e))
}

/// What was applied, of one owner or of all, in order.
pub fn applied_of(connection: &Connection, owner: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
    let read = || {
        let mut statement = connection.prepare(
            "SELECT plugin, version, name, checksum, applied_at FROM _migrations
             WHERE ?1 IS NULL OR plugin = ?1 ORDER BY plugin, version",
        )?;
        let rows = statement.query_map([owner], |row| {
            Ok(AppliedMigration {
                plugin: row.get(0)?,
                version: row.get(1)?,
                name: row.get(2)?,
                checksum: row.get(3)?,
                applied_at: row.get(4)?,
            })
        })?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|e| explain(&e))
}
