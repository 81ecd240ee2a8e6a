//! Applies migrations on one connection.
//!
//! The rule: one lock for the whole database, held by the transaction itself, so that it ends with it in every case.

use super::{explain::explain, lease::Lease};
use crate::StorageError;
use crate::migrate::{self, AppliedMigration, MigrationReport, RECORD_TABLE, Step};
use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};

/// Any number that nobody else uses: "gatewmig" in ASCII.
const LOCK_KEY: i64 = 0x6761_7465_776d_6967;

/// No limit on a step's own time (it may rewrite a large table); waiting for others is bounded.
fn begin() -> String {
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED;
         SET LOCAL statement_timeout = 0;
         SET LOCAL idle_in_transaction_session_timeout = 0;
         SET LOCAL lock_timeout = '60s';
         SELECT pg_advisory_xact_lock({LOCK_KEY})"
    )
}

pub async fn prepare(mut lease: Lease) -> Result<(), StorageError> {
    let connection = lease.connection()?;
    run(connection, begin()).await?;
    run(connection, RECORD_TABLE.to_owned()).await?;
    run(connection, "COMMIT".to_owned()).await?;
    lease.give_back();
    Ok(())
}

/// All pending steps in one transaction; on failure the connection is closed, which rolls everything back.
pub async fn apply(mut lease: Lease, owner: &str, steps: Vec<Step>) -> Result<MigrationReport, StorageError> {
    let connection = lease.connection()?;
    run(connection, begin()).await?;
    let applied = applied_of(connection, Some(owner)).await?;
    let pending = migrate::pending(owner, steps, &applied)?;
    for step in &pending {
        apply_step(connection, owner, step).await.map_err(|error| migrate::failed_step(owner, step, &error))?;
    }
    run(connection, "COMMIT".to_owned()).await?;
    lease.give_back();
    Ok(migrate::report(&pending, applied.len()))
}

/// All of the text in one transaction.
pub async fn define(mut lease: Lease, sql: &str) -> Result<(), StorageError> {
    let connection = lease.connection()?;
    run(connection, format!("{}; {sql}; COMMIT", begin())).await?;
    lease.give_back();
    Ok(())
}

async fn apply_step(connection: &mut PgConnection, owner: &str, step: &Step) -> Result<(), StorageError> {
    run(connection, step.sql.clone()).await?;
    let record = sqlx::query(
        "INSERT INTO _migrations (plugin, version, name, checksum, applied_at)
         VALUES ($1, $2, $3, $4, extract(epoch FROM now())::bigint)",
    );
    record
        .bind(owner)
        .bind(i64::from(step.version))
        .bind(&step.name)
        .bind(&step.checksum)
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(explain)
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), StorageError> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map(|_| ()).map_err(explain)
}

/// What was applied, of one owner or of all, in order.
pub async fn applied_of(
    connection: &mut PgConnection,
    owner: Option<&str>,
) -> Result<Vec<AppliedMigration>, StorageError> {
    let rows = sqlx::query(
        "SELECT plugin, version, name, checksum, applied_at FROM _migrations
         WHERE $1::text IS NULL OR plugin = $1 ORDER BY plugin, version",
    )
    .bind(owner)
    .fetch_all(connection)
    .await
    .map_err(explain)?;
    let read = |row: &sqlx::postgres::PgRow| {
        Ok(AppliedMigration {
            plugin: row.try_get(0)?,
            version: u32::try_from(row.try_get::<i64, _>(1)?).unwrap_or(u32::MAX),
            name: row.try_get(2)?,
            checksum: row.try_get(3)?,
            applied_at: row.try_get(4)?,
        })
    };
    rows.iter().map(read).collect::<Result<_, sqlx::Error>>().map_err(explain)
}
