//! Applies migrations on the writer's connection, between groups.
//!
//! The rule: all pending steps run in one transaction, which is rolled back when one of them fails.

use super::{error::storage_error, migration_error::migration_error, statement_executor::execute_unread};
use crate::{
    check::CheckedStatement,
    error::StorageError,
    migrations::{self, AppliedMigration, CREATE_MIGRATIONS_TABLE, MigrationReport, RenderedMigration},
};
use rusqlite::{Batch, Connection, fallible_iterator::FallibleIterator as _, params};

pub(crate) fn apply(
    connection: &Connection,
    owner: &str,
    steps: Vec<RenderedMigration>,
) -> Result<MigrationReport, StorageError> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(|e| storage_error(&e))?;
    let result = apply_steps(connection, owner, steps);
    let result = result.and_then(|report| {
        connection.execute_batch("COMMIT").map_err(|e| storage_error(&e))?;
        Ok(report)
    });
    if result.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK").map_err(|e| storage_error(&e))?;
    }
    result
}

fn apply_steps(
    connection: &Connection,
    owner: &str,
    steps: Vec<RenderedMigration>,
) -> Result<MigrationReport, StorageError> {
    let applied = applied_migrations(connection, Some(owner))?;
    let pending = migrations::pending_steps(owner, steps, &applied)?;
    for step in &pending {
        apply_step(connection, owner, step).map_err(|error| migrations::step_error(owner, step, error))?;
    }
    Ok(migrations::report(&pending, applied.len()))
}

fn apply_step(connection: &Connection, owner: &str, step: &RenderedMigration) -> Result<(), StorageError> {
    run_statements(connection, &step.sql)?;
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
        .map_err(|e| storage_error(&e))
}

/// Runs the statements one by one, so that an error names its own.
fn run_statements(connection: &Connection, sql: &str) -> Result<(), StorageError> {
    let mut statements = Batch::new(connection, sql);
    let mut at = 0;
    loop {
        let mut statement = match statements.next() {
            Ok(Some(statement)) => statement,
            Ok(None) => return Ok(()),
            Err(error) => {
                let rest = sql.get(at..).unwrap_or_default();
                let begin = sql.len() - rest.trim_start_matches([';', ' ', '\n', '\r', '\t']).len();
                return Err(migration_error(&error, sql, begin));
            }
        };
        let text = statement.expanded_sql().unwrap_or_default();
        let begin = sql.get(at..).and_then(|rest| rest.find(text.trim())).map_or(at, |skipped| at + skipped);
        statement.raw_query().next().map_err(|error| migration_error(&error, sql, begin))?;
        at = begin + text.trim().len();
    }
}

/// Runs all of the text, and then the statements, in one transaction.
pub(crate) fn execute_batch(
    connection: &Connection,
    sql: &str,
    statements: &[CheckedStatement],
) -> Result<(), StorageError> {
    let batch = |sql: &str| connection.execute_batch(sql).map_err(|e| storage_error(&e));
    let run = || {
        batch(&format!("BEGIN IMMEDIATE; {sql}"))?;
        statements.iter().try_for_each(|statement| execute_unread(connection, statement))?;
        batch("COMMIT")
    };
    let result = run();
    if result.is_err() && !connection.is_autocommit() {
        batch("ROLLBACK")?;
    }
    result
}

pub(crate) fn create_migrations_table(connection: &Connection) -> Result<(), StorageError> {
    connection.execute_batch(CREATE_MIGRATIONS_TABLE).map_err(|e| storage_error(&e))
}

/// The applied migrations of one owner or of all, in order.
pub(crate) fn applied_migrations(
    connection: &Connection,
    owner: Option<&str>,
) -> Result<Vec<AppliedMigration>, StorageError> {
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
    read().map_err(|e| storage_error(&e))
}
