//! The open PostgreSQL database: its connection pool and time limits.

use super::{
    advisory_lock::SharedLock,
    error::{ExecuteError, POOL_TIMED_OUT, storage_error},
    execute::execute,
    migrator,
    pooled_connection::PooledConnection,
    reachability::Reachability,
};
use crate::{
    check::CheckedStatement,
    error::StorageError,
    migrations::{AppliedMigration, MigrationReport, MigrationStep},
    result_budget::ResultBudget,
    settings::DatabaseSettings,
};
use plugin_api::abi::{Rows, StatementResult};
use secrecy::{ExposeSecret, SecretString};
use sqlx::{
    AssertSqlSafe, Connection, Executor, PgConnection, PgPool, Postgres,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{AcquireError, Semaphore},
    time::error::Elapsed,
};

/// How much longer than the server's limit the client waits before it closes the connection.
const CLIENT_GRACE: Duration = Duration::from_secs(5);
const TRANSACTIONS_WAIT: &str = "as many transactions as there may be have been open";
const STATEMENT_CACHE_COUNT: usize = 256;

pub struct PostgresEngine {
    pub(super) pool: PgPool,
    url: SecretString,
    /// Limits the transactions that hold a connection, because they may wait for locks: some connections stay free for
    /// reads.
    transaction_permits: Arc<Semaphore>,
    pub(super) reachability: Arc<Reachability>,
    statement_timeout: Duration,
    transaction_timeout: Duration,
    transaction_idle: Duration,
}

impl PostgresEngine {
    pub async fn open(settings: &DatabaseSettings) -> Result<Self, StorageError> {
        let options = options(&settings.url)?;
        let reachability = Arc::<Reachability>::default();
        let lock = SharedLock::default();
        let pool_lock = lock.clone();
        let session_settings = session_settings(settings);
        let statement_timeout = Duration::from_millis(settings.statement_timeout_ms);
        let pool = PgPoolOptions::new()
            .max_connections(settings.pool_max.max(2))
            .acquire_timeout(statement_timeout + CLIENT_GRACE)
            .test_before_acquire(false)
            .before_acquire(reachability.test_connections())
            .after_connect(move |connection, _| {
                let session_settings = AssertSqlSafe(session_settings.clone());
                let lock = pool_lock.clone();
                Box::pin(async move {
                    lock.acquire(connection).await?;
                    connection.execute(sqlx::raw_sql(session_settings)).await?;
                    detect_lost_clients(connection).await;
                    Ok(())
                })
            })
            .connect_with(options.clone())
            .await;
        let pool = match pool {
            Ok(pool) => pool,
            Err(error) => return Err(open_error(&lock, error, &settings.url).await),
        };
        reachability.watch(options);
        let pool_max = usize::try_from(settings.pool_max.max(2)).unwrap_or(usize::MAX);
        let engine = Self {
            pool,
            url: settings.url.clone(),
            transaction_permits: Arc::new(Semaphore::new(pool_max - pool_max.div_ceil(4))),
            reachability,
            statement_timeout,
            transaction_timeout: Duration::from_millis(settings.transaction_timeout_ms),
            transaction_idle: Duration::from_millis(settings.transaction_idle_ms),
        };
        migrator::create_migrations_table(engine.acquire().await?).await?;
        Ok(engine)
    }

    /// Whether the server accepts a connection.
    pub async fn check(settings: &DatabaseSettings) -> Result<(), StorageError> {
        let limit = Duration::from_millis(settings.statement_timeout_ms);
        let connection = tokio::time::timeout(limit, connect(&settings.url))
            .await
            .map_err(|_elapsed: Elapsed| StorageError::Unavailable("the server does not answer".into()))??;
        connection.close().await.map_err(storage_error)
    }

    /// See [`crate::Database::peek_texts`].
    pub async fn peek_texts(
        settings: &DatabaseSettings,
        table: &str,
        query: &'static str,
    ) -> Result<Vec<String>, StorageError> {
        let limit = Duration::from_millis(settings.statement_timeout_ms);
        let peek = async {
            let mut connection = connect(&settings.url).await?;
            let is_there = sqlx::query_scalar::<_, bool>("SELECT to_regclass($1) IS NOT NULL").bind(table);
            let is_there = is_there.fetch_one(&mut connection).await.map_err(storage_error)?;
            let texts = if is_there {
                sqlx::query_scalar(query).fetch_all(&mut connection).await.map_err(storage_error)?
            } else {
                Vec::new()
            };
            connection.close().await.map_err(storage_error)?;
            Ok(texts)
        };
        tokio::time::timeout(limit, peek)
            .await
            .map_err(|_elapsed: Elapsed| StorageError::Unavailable("the server does not answer".into()))?
    }

    pub fn url(&self) -> &SecretString {
        &self.url
    }

    pub async fn read(&self, statement: &CheckedStatement) -> Result<Rows, StorageError> {
        match self.read_once(statement).await {
            Err(error) if error.is_plan_stale => self.read_once(statement).await,
            result => result,
        }
        .map_err(|error| error.error)
    }

    async fn read_once(&self, statement: &CheckedStatement) -> Result<Rows, ExecuteError> {
        let mut connection = self.acquire().await?;
        let mut budget = ResultBudget::new();
        let result = self.execute(connection.get()?, statement, &mut budget).await;
        let is_clean = match &result {
            Ok(_) => true,
            Err(error) => error.is_connection_usable,
        };
        if is_clean {
            connection.return_to_pool();
        }
        result.map(|outcome| outcome.rows)
    }

    /// Executes a statement within the time limits, and says of one that was too slow how much it had.
    pub(super) async fn execute(
        &self,
        connection: &mut PgConnection,
        statement: &CheckedStatement,
        budget: &mut ResultBudget,
    ) -> Result<StatementResult, ExecuteError> {
        let mut result = self.with_timeout(execute(connection, statement, budget)).await?;
        if let Err(ExecuteError { error: error @ StorageError::Timeout(_), .. }) = &mut result {
            *error = statement.slow_error(self.statement_timeout);
        }
        result
    }

    async fn acquire(&self) -> Result<PooledConnection, StorageError> {
        Ok(PooledConnection::new(self.pooled().await?, None))
    }

    async fn pooled(&self) -> Result<PoolConnection<Postgres>, StorageError> {
        let acquired = self.reachability.unless_away(self.pool.acquire()).await?.map_err(storage_error);
        acquired.map_err(|error| match error {
            StorageError::Busy(_) => StorageError::waited(POOL_TIMED_OUT, self.wait_timeout()),
            other => other,
        })
    }

    /// How long a statement waits for a connection, and then for the server.
    fn wait_timeout(&self) -> Duration {
        self.statement_timeout + CLIENT_GRACE
    }

    pub(super) async fn acquire_for_transaction(&self) -> Result<PooledConnection, StorageError> {
        let permit = Arc::clone(&self.transaction_permits).acquire_owned();
        let permit = tokio::time::timeout(self.wait_timeout(), permit);
        let permit = self
            .reachability
            .unless_away(permit)
            .await?
            .map_err(|_elapsed: Elapsed| StorageError::waited(TRANSACTIONS_WAIT, self.wait_timeout()))?
            .map_err(|_closed: AcquireError| StorageError::Unavailable("the database is closed".to_owned()))?;
        Ok(PooledConnection::new(self.pooled().await?, Some(permit)))
    }

    /// Fails when the server does not respond although its own limits have passed.
    pub(super) async fn with_timeout<T>(&self, work: impl Future<Output = T>) -> Result<T, StorageError> {
        tokio::time::timeout(self.wait_timeout(), work)
            .await
            .map_err(|_elapsed: Elapsed| StorageError::Unavailable("the server does not answer".into()))
    }

    /// The error of a transaction that waited for another one of its plugin to end.
    pub(super) fn lock_wait_error(&self, error: StorageError) -> StorageError {
        match error {
            StorageError::Timeout(_) | StorageError::Busy(_) => {
                StorageError::waited("another transaction of the plugin has been open", self.statement_timeout)
            }
            other => other,
        }
    }

    /// Which limit a transaction has exceeded, if any.
    pub(super) fn exceeded_limit(&self, begun_at: Instant, idle_since: Instant) -> Option<&'static str> {
        if begun_at.elapsed() > self.transaction_timeout {
            Some("it took too long")
        } else if idle_since.elapsed() > self.transaction_idle {
            Some("it kept the database waiting for too long")
        } else {
            None
        }
    }

    pub async fn migrate(&self, owner: &str, steps: Vec<MigrationStep>) -> Result<MigrationReport, StorageError> {
        migrator::apply(self.acquire().await?, owner, steps).await
    }

    pub async fn execute_batch(&self, sql: &str) -> Result<(), StorageError> {
        migrator::execute_batch(self.acquire().await?, sql).await
    }

    pub async fn applied_migrations(&self, owner: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
        let mut connection = self.acquire().await?;
        let applied = migrator::applied_migrations(connection.get()?, owner).await?;
        connection.return_to_pool();
        Ok(applied)
    }

    pub async fn close(&self) {
        self.reachability.stop_watching();
        self.transaction_permits.close();
        self.pool.close().await;
    }
}

/// Why the pool could not be opened. The pool itself only knows that it tried until its time was over.
async fn open_error(lock: &SharedLock, error: sqlx::Error, url: &SecretString) -> StorageError {
    match lock.open_error(error) {
        StorageError::Busy(reason) if reason == POOL_TIMED_OUT => match connect(url).await {
            Ok(_) => StorageError::Unavailable(reason),
            Err(error) => error,
        },
        error => error,
    }
}

/// Opens a single connection, outside any pool.
pub async fn connect(url: &SecretString) -> Result<PgConnection, StorageError> {
    PgConnection::connect_with(&options(url)?).await.map_err(storage_error)
}

fn options(url: &SecretString) -> Result<PgConnectOptions, StorageError> {
    let options = PgConnectOptions::from_str(url.expose_secret()).map_err(|_quotes_password: sqlx::Error| {
        // The error's text contains the address with its password.
        StorageError::Unavailable("the database's address is not valid".into())
    })?;
    Ok(options.statement_cache_capacity(STATEMENT_CACHE_COUNT).application_name("gateway"))
}

/// SQL that sets the limits of a new connection.
fn session_settings(settings: &DatabaseSettings) -> String {
    let DatabaseSettings {
        statement_timeout_ms: statement,
        transaction_timeout_ms: transaction,
        transaction_idle_ms: idle,
        ..
    } = settings;
    let lock = statement.min(transaction);
    // `off` would acknowledge commits before they are durable. A stricter setting than `on` is kept.
    let durability = if settings.synchronous_full {
        "SELECT set_config('synchronous_commit', 'on', false)
             WHERE current_setting('synchronous_commit') = 'off'"
    } else {
        "SET synchronous_commit = off"
    };
    format!(
        "SET statement_timeout = {statement};
         SET lock_timeout = {lock};
         SET idle_in_transaction_session_timeout = {idle};
         SET standard_conforming_strings = on;
         {durability}"
    )
}

/// Makes the server stop a statement whose client has disconnected. Some systems do not support it; there the time
/// limits do it.
async fn detect_lost_clients(connection: &mut PgConnection) {
    let set = sqlx::raw_sql("SET client_connection_check_interval = 100");
    if let Err(error) = connection.execute(set).await {
        tracing::debug!(error = %error, "the server does not look for lost clients");
    }
}
