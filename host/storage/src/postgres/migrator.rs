//! Applies migrations on one connection.
//!
//! The rule: the transaction itself holds one lock for the whole database, so that the lock is released however it
//! ends.

use super::{error::storage_error, migration_error::migration_error, tools};
use crate::{
    caching::versions::NOTE_CHANGE_OF_EVERYTHING,
    check::CheckedStatement,
    error::StorageError,
    migrations::{
        self, AppliedMigration, CREATE_MIGRATIONS_TABLE, CountReplacement, MigrationReport, RenderedMigration,
    },
};
use plugin_api::abi::Value;
use sqlx::{
    AssertSqlSafe, Encode, Executor, PgConnection, Postgres, Row, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, types::Oid},
    query::Query,
};

/// "gatewmig" in ASCII: a number that other programs are unlikely to use.
const LOCK_KEY: i64 = 0x6761_7465_776d_6967;

/// PostgreSQL's type of what has none yet.
const UNKNOWN: Oid = Oid(705);

/// A step's own time is not limited, because it may rewrite a large table; its wait for locks is.
pub(crate) fn begin_sql() -> String {
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED;
         SET LOCAL statement_timeout = 0;
         SET LOCAL idle_in_transaction_session_timeout = 0;
         SET LOCAL lock_timeout = '60s';
         SET LOCAL standard_conforming_strings = on;
         SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
         SELECT pg_advisory_xact_lock({LOCK_KEY})"
    )
}

pub(crate) async fn create_migrations_table(mut connection: PgConnection) -> Result<(), StorageError> {
    execute_sql(&mut connection, begin_sql()).await?;
    execute_sql(&mut connection, CREATE_MIGRATIONS_TABLE.to_owned()).await?;
    execute_sql(&mut connection, "COMMIT".to_owned()).await?;
    tools::close(connection).await
}

/// All pending steps in one transaction; on failure the connection is closed, which rolls everything back.
pub(crate) async fn apply(
    mut connection: PgConnection,
    owner: &str,
    steps: Vec<RenderedMigration>,
) -> Result<MigrationReport, StorageError> {
    let handle = &mut connection;
    execute_sql(handle, begin_sql()).await?;
    let applied = applied_migrations(handle, Some(owner)).await?;
    let mut steps = steps;
    let of_applied = steps.iter_mut().take(applied.len());
    let replacements = of_applied.flat_map(|step| std::mem::take(&mut step.count_replacements)).collect();
    let pending = migrations::pending_steps(owner, steps, &applied)?;
    replace_counts(handle, replacements).await?;
    for step in &pending {
        apply_step(handle, owner, step).await.map_err(|error| migrations::step_error(owner, step, error))?;
    }
    execute_sql(handle, format!("{NOTE_CHANGE_OF_EVERYTHING}; COMMIT")).await?;
    // It was committed, whatever becomes of the connection.
    let _ = tools::close(connection).await;
    Ok(migrations::report(&pending, applied.len()))
}

/// Runs all of the text, and then the statements, in one transaction.
pub(crate) async fn execute_batch(
    mut connection: PgConnection,
    sql: &str,
    statements: &[CheckedStatement],
) -> Result<(), StorageError> {
    execute_sql(&mut connection, format!("{}; {sql}", begin_sql())).await?;
    for statement in statements {
        bound(statement).persistent(false).execute(&mut connection).await.map_err(storage_error)?;
    }
    execute_sql(&mut connection, format!("{NOTE_CHANGE_OF_EVERYTHING}; COMMIT")).await?;
    let _ = tools::close(connection).await;
    Ok(())
}

/// The server infers its type from the statement.
struct Null;

impl Type<Postgres> for Null {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(UNKNOWN)
    }
}

impl Encode<'_, Postgres> for Null {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}

fn bound(statement: &CheckedStatement) -> Query<'static, Postgres, PgArguments> {
    let query = sqlx::query(AssertSqlSafe(statement.sql()));
    statement.statement.params.iter().fold(query, |query, param| match param {
        Value::Null => query.bind(Null),
        Value::Int(value) => query.bind(*value),
        Value::Real(value) => query.bind(*value),
        Value::Text(value) => query.bind(value.as_str()),
        Value::Blob(value) => query.bind(value.as_slice()),
    })
}

async fn apply_step(connection: &mut PgConnection, owner: &str, step: &RenderedMigration) -> Result<(), StorageError> {
    let ran = connection.execute(sqlx::raw_sql(AssertSqlSafe(step.sql.clone()))).await;
    ran.map_err(|error| migration_error(error, &step.sql))?;
    let insert = sqlx::query(
        "INSERT INTO _migrations (plugin, version, name, checksum, applied_at)
         VALUES ($1, $2, $3, $4, extract(epoch FROM now())::bigint)",
    );
    insert
        .bind(owner)
        .bind(i64::from(step.version))
        .bind(&step.name)
        .bind(&step.checksum)
        .persistent(false)
        .execute(connection)
        .await
        .map(|_| ())
        .map_err(storage_error)
}

/// Replaces the tables of numbers that earlier versions of the gateway made, where they are still there.
async fn replace_counts(
    connection: &mut PgConnection,
    replacements: Vec<CountReplacement>,
) -> Result<(), StorageError> {
    if replacements.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = replacements.iter().map(|replacement| replacement.old_table.as_str()).collect();
    let tables = sqlx::query_scalar::<_, String>(
        "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid) AND relname::text = ANY($1)",
    );
    let there = tables.bind(names).persistent(false).fetch_all(&mut *connection).await.map_err(storage_error)?;
    for CountReplacement { old_table, sql } in replacements {
        if there.contains(&old_table) {
            tracing::info!(table = old_table, "its numbers of rows are summed from now on");
            let ran = connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.clone()))).await;
            ran.map_err(|error| migration_error(error, &sql))?;
        }
    }
    Ok(())
}

async fn execute_sql(connection: &mut PgConnection, sql: String) -> Result<(), StorageError> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map(|_| ()).map_err(storage_error)
}

/// The applied migrations of one owner or of all, in order.
pub(crate) async fn list_applied_migrations(
    mut connection: PgConnection,
    owner: Option<&str>,
) -> Result<Vec<AppliedMigration>, StorageError> {
    // A pooler keeps the connection to one server for a transaction only.
    execute_sql(&mut connection, "BEGIN".to_owned()).await?;
    let applied = applied_migrations(&mut connection, owner).await?;
    execute_sql(&mut connection, "COMMIT".to_owned()).await?;
    tools::close(connection).await?;
    Ok(applied)
}

async fn applied_migrations(
    connection: &mut PgConnection,
    owner: Option<&str>,
) -> Result<Vec<AppliedMigration>, StorageError> {
    let rows = sqlx::query(
        "SELECT plugin, version, name, checksum, applied_at FROM _migrations
         WHERE $1::text IS NULL OR plugin = $1 ORDER BY plugin, version",
    )
    .bind(owner)
    .persistent(false)
    .fetch_all(connection)
    .await
    .map_err(storage_error)?;
    let read = |row: &sqlx::postgres::PgRow| {
        Ok(AppliedMigration {
            plugin: row.try_get(0)?,
            version: u32::try_from(row.try_get::<i64, _>(1)?).unwrap_or(u32::MAX),
            name: row.try_get(2)?,
            checksum: row.try_get(3)?,
            applied_at: row.try_get(4)?,
        })
    };
    rows.iter().map(read).collect::<Result<_, sqlx::Error>>().map_err(storage_error)
}
