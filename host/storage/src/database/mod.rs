//! The open database: reads, transactions, migrations and backups, on either engine.

mod current_revisions;
pub(crate) mod engine;
pub(crate) mod gateway_description;
mod read_replica_routing;
mod registered_gateways;
pub(crate) mod resources;
mod row_count_compaction;
mod size;

pub use gateway_description::GatewayDescription;
pub use registered_gateways::RegisteredGateway;
pub use resources::{DatabaseResources, PoolStatus};

#[cfg(feature = "simulation")]
use crate::simulation::{SimulatedEngine, migration_text};
use crate::{
    backup::{self, BackupError, BackupManifest, BackupOrigin},
    caching::{read_tracking, versions::Versions},
    check::{AccessMode, CheckedStatement, StatementChecker},
    commit_statement::CommitStatement,
    database::engine::{DatabaseInner, Engine},
    dialect::Dialect,
    error::StorageError,
    migrations::{self, AppliedMigration, MigrationReport, MigrationSet},
    postgres::{self, Notifications, PostgresEngine},
    scope::Scope,
    settings::DatabaseSettings,
    sqlite::{Opener, SqliteEngine},
    standby::{read_replicas::ReadReplicas, read_source},
    statements::{decode_rows, slow_statement},
    transaction::Transaction,
};
use futures_util::future::BoxFuture;
use gateway_telemetry::SpanStart;
use plugin_api::abi::{Rows, Statement, StatementResult};
use serde::de::DeserializeOwned;
use std::{path::Path, sync::Arc, time::Duration};
use uuid::Uuid;

/// The result of [`Database::try_read`].
pub enum ReadAttempt {
    Ready(Result<Rows, StorageError>),
    /// The statement must run on another thread or on a server: pass it to [`Database::read_checked`].
    Pending(CheckedStatement),
}

/// An open database; clones share it.
#[derive(Clone)]
pub struct Database {
    pub(crate) inner: Arc<DatabaseInner>,
}

/// What opens, changes or ends a whole database returns a boxed future: its code, with much of the database driver, is
/// compiled here once and not in every program and test that awaits it.
impl Database {
    /// For what may run beside a gateway.
    pub fn open(settings: DatabaseSettings) -> BoxFuture<'static, Result<Self, StorageError>> {
        Self::open_as(Opener::Command, settings)
    }

    /// For a gateway, and for what must not run beside one: fails while another one has opened the same SQLite file so. PostgreSQL is
    /// for many.
    pub fn open_as_gateway(settings: DatabaseSettings) -> BoxFuture<'static, Result<Self, StorageError>> {
        Self::open_as(Opener::Gateway, settings)
    }

    fn open_as(opener: Opener, settings: DatabaseSettings) -> BoxFuture<'static, Result<Self, StorageError>> {
        Box::pin(async move {
            let dialect = settings.dialect()?;
            let staleness = Duration::from_millis(settings.staleness_ms);
            let checker = StatementChecker::new(dialect);
            let instance_id = Uuid::now_v7().to_string();
            #[cfg(feature = "simulation")]
            if let Some(simulated) = SimulatedEngine::open(&settings) {
                let versions = Versions::new(staleness, false);
                let engine = Engine::Simulated(simulated?);
                let inner = DatabaseInner::new(instance_id, checker, engine, versions, ReadReplicas::default());
                return Ok(Self { inner: Arc::new(inner) });
            }
            let (engine, read_replicas) = match dialect {
                Dialect::Sqlite => (Engine::Sqlite(open_sqlite(settings, opener).await?), ReadReplicas::default()),
                Dialect::Postgres => {
                    let engine = Arc::new(PostgresEngine::open(&settings, &instance_id).await?);
                    let read_replicas = ReadReplicas::open(&settings, &engine, &checker).await?;
                    (Engine::Postgres(engine), read_replicas)
                }
            };
            let versions = Versions::new(staleness, !read_replicas.is_empty());
            let inner = DatabaseInner::new(instance_id, checker, engine, versions, read_replicas);
            Ok(Self { inner: Arc::new(inner) })
        })
    }

    /// Whether the database could be opened. Creates and changes nothing.
    pub fn check(settings: DatabaseSettings) -> BoxFuture<'static, Result<(), StorageError>> {
        Box::pin(async move {
            #[cfg(feature = "simulation")]
            if let Some(simulated) = SimulatedEngine::open(&settings) {
                return simulated.map(drop);
            }
            match settings.dialect()? {
                Dialect::Sqlite => {
                    let path = settings.sqlite_path()?;
                    let check = move || SqliteEngine::check(&path);
                    tokio::task::spawn_blocking(check)
                        .await
                        .map_err(|error| StorageError::Internal(format!("the check failed: {error}")))?
                }
                Dialect::Postgres => postgres::check(&settings).await,
            }
        })
    }

    /// The texts that a query of one column returns, of a database that is not open here; none when it has no such table. Creates
    /// and changes nothing.
    pub fn peek_texts(
        settings: DatabaseSettings,
        table: &'static str,
        query: &'static str,
    ) -> BoxFuture<'static, Result<Vec<String>, StorageError>> {
        Box::pin(async move {
            #[cfg(feature = "simulation")]
            if let Some(simulated) = SimulatedEngine::open(&settings) {
                return simulated?.peek_texts(table, query);
            }
            match settings.dialect()? {
                Dialect::Sqlite => {
                    let path = settings.sqlite_path()?;
                    let peek = move || SqliteEngine::peek_texts(&path, table, query);
                    tokio::task::spawn_blocking(peek)
                        .await
                        .map_err(|error| StorageError::Internal(format!("the read failed: {error}")))?
                }
                Dialect::Postgres => postgres::peek_texts(&settings, table, query).await,
            }
        })
    }

    pub fn dialect(&self) -> Dialect {
        self.inner.dialect
    }

    /// Names the gateway that opened the database among all that share it: in its row of `host_gateways`, and as the holder of its
    /// leases. A UUID v7, another one each time a database is opened.
    pub fn instance_id(&self) -> &str {
        &self.inner.instance_id
    }

    /// Runs one statement that only reads, on a snapshot of its own. Dropping the future stops the statement.
    pub async fn read(&self, scope: &Scope, statement: Statement) -> Result<Rows, StorageError> {
        match self.try_read(scope, statement) {
            ReadAttempt::Ready(result) => result,
            ReadAttempt::Pending(statement) => self.read_checked(scope, statement).await,
        }
    }

    /// All rows that a statement of the gateway itself selects, decoded.
    pub fn fetch_all<'a, T: DeserializeOwned + 'a>(
        &'a self,
        statement: impl Into<Statement>,
    ) -> BoxFuture<'a, Result<Vec<T>, StorageError>> {
        let statement = statement.into();
        // Boxed: as one more layer of futures it would exceed the compiler's recursion limit where a request calls plugins.
        Box::pin(async move { decode_rows(&self.read(&Scope::Host, statement).await?) })
    }

    /// Runs one statement of the gateway itself in a transaction of its own. Returns when it is durable.
    pub fn execute<'a>(
        &'a self,
        statement: impl Into<Statement>,
    ) -> BoxFuture<'a, Result<StatementResult, StorageError>> {
        let statement = CommitStatement::new(statement.into());
        Box::pin(async move {
            let results = self.begin(Scope::Host).commit(vec![statement]).await?;
            let missing = || StorageError::Internal("a statement has no result".to_owned());
            results.into_iter().next().ok_or_else(missing)
        })
    }

    /// Like [`Self::read`], but returns a statement that would have to wait, for [`Self::read_checked`].
    pub fn try_read(&self, scope: &Scope, statement: Statement) -> ReadAttempt {
        let statement = match self.inner.checker.check(scope, statement, AccessMode::ReadOnly) {
            Ok(statement) => statement,
            Err(error) => return ReadAttempt::Ready(self.record_read(scope, Err(error))),
        };
        statement.record_dependencies(scope);
        log_read(statement.sql());
        if let Engine::Sqlite(sqlite) = &self.inner.engine {
            let (timer, started) = (scope.time_read(), SpanStart::now());
            if let Some(rows) = sqlite.try_read(&statement) {
                drop(started.map(|start| scope.span_since(start, "database read", self.inner.dialect)));
                return ReadAttempt::Ready(Ok(rows));
            }
            if let Some(timer) = timer {
                timer.discard();
            }
        }
        ReadAttempt::Pending(statement)
    }

    /// Runs a statement that [`Self::try_read`] returned.
    pub async fn read_checked(&self, scope: &Scope, statement: CheckedStatement) -> Result<Rows, StorageError> {
        let _timer = scope.time_read();
        let span = scope.span("database read", self.inner.dialect);
        let result = match &self.inner.engine {
            Engine::Sqlite(sqlite) => sqlite.read(statement).await,
            // Boxed: the driver's futures are large, and SQLite's callers would move them too.
            Engine::Postgres(postgres) => Box::pin(self.read_postgres(postgres, scope, &statement)).await,
            #[cfg(feature = "simulation")]
            Engine::Simulated(simulated) => simulated.read(&statement).await,
        };
        Scope::end_span(span, &result);
        self.record_read(scope, result)
    }

    async fn read_postgres(
        &self,
        postgres: &PostgresEngine,
        scope: &Scope,
        statement: &CheckedStatement,
    ) -> Result<Rows, StorageError> {
        match self.read_from_read_replica(scope, statement).await {
            Some(rows) => Ok(rows),
            None => postgres.read(statement).await,
        }
    }

    /// A response that was built while a read failed must not be cached.
    fn record_read(&self, scope: &Scope, result: Result<Rows, StorageError>) -> Result<Rows, StorageError> {
        if let Err(error) = &result {
            read_tracking::mark_uncacheable();
            slow_statement::log_wait(scope.plugin_name(), error);
        }
        self.inner.record_availability(result)
    }

    /// A transaction, which begins with its first statements.
    pub fn begin(&self, scope: Scope) -> Transaction {
        read_source::leave();
        Transaction::new(Arc::clone(&self.inner), scope)
    }

    /// Applies the pending migrations of one plugin in one transaction.
    pub fn migrate<'a>(&'a self, schema: &'a MigrationSet<'_>) -> BoxFuture<'a, Result<MigrationReport, StorageError>> {
        Box::pin(async move {
            #[cfg(feature = "simulation")]
            if let Engine::Simulated(simulated) = &self.inner.engine {
                return simulated.migrate(schema.owner(), migrations::simulated_steps(schema, migration_text)?).await;
            }
            let steps = migrations::steps(schema, self.inner.dialect)?;
            match &self.inner.engine {
                Engine::Sqlite(sqlite) => sqlite.migrate(schema.owner().to_owned(), steps).await,
                Engine::Postgres(postgres) => postgres.migrate(schema.owner(), steps).await,
                #[cfg(feature = "simulation")]
                Engine::Simulated(simulated) => simulated.migrate(schema.owner(), steps).await,
            }
        })
    }

    /// Runs the gateway's own definitions that are not numbered migrations, for example triggers on plugins' tables, in
    /// one transaction. The text is not checked, so it must not contain input from outside.
    pub fn execute_batch<'a>(&'a self, sql: &'a str) -> BoxFuture<'a, Result<(), StorageError>> {
        self.execute_batch_with(sql, Vec::new())
    }

    /// As [`Self::execute_batch`], and then, in the same transaction, statements of the gateway itself, whose parameters may be
    /// from anywhere. What they return is not read.
    pub fn execute_batch_with<'a>(
        &'a self,
        sql: &'a str,
        statements: Vec<Statement>,
    ) -> BoxFuture<'a, Result<(), StorageError>> {
        Box::pin(async move {
            let check = |statement| self.inner.checker.check(&Scope::Host, statement, AccessMode::ReadWrite);
            let statements = statements.into_iter().map(check).collect::<Result<Vec<_>, _>>()?;
            match &self.inner.engine {
                Engine::Sqlite(sqlite) => sqlite.execute_batch(sql.to_owned(), statements).await,
                Engine::Postgres(postgres) => postgres.execute_batch(sql, &statements).await,
                #[cfg(feature = "simulation")]
                Engine::Simulated(simulated) => simulated.execute_batch(sql, &statements).await,
            }
        })
    }

    /// The applied migrations of one plugin (`host` for the gateway's own) or of all.
    pub async fn migration_status(&self, plugin: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
        match &self.inner.engine {
            Engine::Sqlite(sqlite) => sqlite.applied_migrations(plugin.map(str::to_owned)).await,
            Engine::Postgres(postgres) => postgres.applied_migrations(plugin).await,
            #[cfg(feature = "simulation")]
            Engine::Simulated(simulated) => simulated.applied_migrations(plugin).await,
        }
    }

    /// Notifications of other gateways. `None` on SQLite, which only one gateway uses, and while the server is
    /// unavailable.
    pub async fn listen(&self, channel: &str) -> Option<Notifications> {
        match &self.inner.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => postgres.listen(channel).await,
            #[cfg(feature = "simulation")]
            Engine::Simulated(simulated) => simulated.listen(channel).map(Notifications::simulated),
        }
    }

    /// Wakes those who listen to the channel, outside of any transaction: a notification that is part of a transaction makes the
    /// server commit one after the other. It may be lost. Does nothing on SQLite.
    pub async fn notify(&self, channel: &str) {
        #[cfg(feature = "simulation")]
        if let Engine::Simulated(simulated) = &self.inner.engine {
            simulated.notify(channel);
        }
        if let Engine::Postgres(postgres) = &self.inner.engine
            && let Err(error) = Box::pin(postgres.notify(channel)).await
        {
            tracing::debug!(%error, channel, "other gateways are not notified");
        }
    }

    /// Writes everything that was committed before the call into a new file, and its manifest beside it.
    pub fn back_up<'a>(
        &'a self,
        file: &'a Path,
        overwrite: bool,
        origin: BackupOrigin<'a>,
    ) -> BoxFuture<'a, Result<BackupManifest, BackupError>> {
        Box::pin(backup::back_up(&self.inner.engine, file, overwrite, origin))
    }

    /// Whether the threads of SQLite run: without one of them only a restart helps.
    pub fn check_threads(&self) -> Result<(), StorageError> {
        match &self.inner.engine {
            Engine::Sqlite(sqlite) if !sqlite.are_threads_running() => {
                Err(StorageError::Internal("a database thread has ended".into()))
            }
            _ => Ok(()),
        }
    }

    /// Whether the database answers a query.
    pub fn probe(&self) -> BoxFuture<'_, Result<(), StorageError>> {
        Box::pin(async move {
            self.check_threads()?;
            let statement = Statement { sql: "SELECT 1".into(), params: Vec::new().into() };
            self.read(&Scope::Host, statement).await.map(|_| ())
        })
    }

    /// Why a write within the last `window` failed because the database was unavailable, if no later one succeeded.
    pub fn write_failure_within(&self, window: Duration) -> Option<String> {
        self.inner.write_failure_within(window)
    }

    /// What it takes now.
    pub fn resources(&self) -> DatabaseResources {
        match &self.inner.engine {
            Engine::Sqlite(sqlite) => sqlite.resources(),
            Engine::Postgres(postgres) => {
                DatabaseResources { pool: Some(postgres.pool_status()), ..DatabaseResources::default() }
            }
            #[cfg(feature = "simulation")]
            Engine::Simulated(_) => DatabaseResources::default(),
        }
    }

    /// Free bytes of the disk that SQLite writes to. `None` for PostgreSQL, whose disk is another machine's.
    pub fn free_disk_bytes(&self) -> Option<u64> {
        match &self.inner.engine {
            Engine::Sqlite(sqlite) => sqlite.free_disk_bytes(),
            Engine::Postgres(_) => None,
            #[cfg(feature = "simulation")]
            Engine::Simulated(_) => None,
        }
    }

    /// Whether a call within the last `window` failed because the database was away or overloaded.
    pub fn was_unavailable_within(&self, window: Duration) -> bool {
        self.inner.was_unavailable_within(window)
    }

    /// Finishes the waiting calls, then closes. Later calls fail with [`StorageError::Unavailable`].
    pub fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match &self.inner.engine {
                Engine::Sqlite(sqlite) => sqlite.close().await,
                Engine::Postgres(postgres) => {
                    self.inner.read_replicas.close().await;
                    postgres.close().await;
                }
                #[cfg(feature = "simulation")]
                Engine::Simulated(simulated) => simulated.close(),
            }
        })
    }
}

/// Opening may replay the write-ahead log: it must not block a thread that serves requests.
async fn open_sqlite(settings: DatabaseSettings, opener: Opener) -> Result<SqliteEngine, StorageError> {
    let open = move || SqliteEngine::open(&settings.sqlite_path()?, &settings, opener);
    tokio::task::spawn_blocking(open)
        .await
        .map_err(|error| StorageError::Internal(format!("opening failed: {error}")))?
}

/// The text is code of the gateway or a plugin. What clients sent is in the parameters, which no log has. A function, so that
/// futures do not hold what the macro makes.
fn log_read(text: &str) {
    tracing::trace!(sql = text, "reads");
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// `/live` of the operator's listener is 503 then.
    #[tokio::test]
    async fn a_sqlite_thread_that_has_ended_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("gateway.db").display());
        let database = Database::open(DatabaseSettings::new(url)).await.unwrap();
        database.check_threads().unwrap();
        let Engine::Sqlite(sqlite) = &database.inner.engine else { unreachable!("the file is SQLite's") };
        sqlite.end_writer_thread().await;
        let ended = async {
            loop {
                match database.check_threads() {
                    Ok(()) => tokio::task::yield_now().await,
                    Err(error) => break error,
                }
            }
        };
        let error = tokio::time::timeout(Duration::from_secs(10), ended).await.unwrap();
        assert_eq!(error, StorageError::Internal("a database thread has ended".into()));
        assert_eq!(database.probe().await, Err(error));
    }
}
