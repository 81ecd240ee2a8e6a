//! The open PostgreSQL database: its connection pool and time limits.

use super::{
    connector::Connector,
    error::no_answer,
    gateway_registration::GatewayRegistration,
    migrator,
    pooled_connection::PooledConnection,
    query::Query,
    reachability::{Reachability, ServerRole},
    session_pool::SessionPool,
    tools,
};
use crate::{
    check::CheckedStatement,
    database::resources::PoolStatus,
    error::{IDLE_TOO_LONG, OPEN_TOO_LONG, StorageError},
    migrations::{AppliedMigration, MigrationReport, RenderedMigration},
    settings::DatabaseSettings,
    statements::slow_statement,
};
use plugin_api::abi::Rows;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::PgConnection;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{AcquireError, Semaphore},
    time::{error::Elapsed, timeout},
};

const TRANSACTIONS_WAIT: &str = "as many transactions as there may be have been open";

pub(crate) struct PostgresEngine {
    pub(super) pool: SessionPool,
    /// For notifications; `None` where they are not listened for.
    pub(super) listener: Option<Connector>,
    url: SecretString,
    /// Limits the transactions that hold a connection, because they may wait for locks: some connections stay free for
    /// reads.
    transaction_permits: Arc<Semaphore>,
    pub(super) reachability: Arc<Reachability>,
    pub(super) transaction_timeout: Duration,
    transaction_idle: Duration,
    pub(crate) registration: GatewayRegistration,
}

impl PostgresEngine {
    pub(crate) fn pool_status(&self) -> PoolStatus {
        self.pool.status()
    }

    pub(crate) async fn open(settings: &DatabaseSettings, instance_id: &str) -> Result<Self, StorageError> {
        let pool = SessionPool::new(&settings.url, settings, Reachability::of(ServerRole::Primary))?;
        let listen_url = settings.listen_url.as_ref().filter(|url| !url.expose_secret().is_empty());
        let listener = listen_url.map(Connector::bare).transpose()?;
        let reachability = Arc::clone(&pool.reachability);
        let connections_max = settings.connections_max();
        let beside = Connector::bare(&settings.url)?;
        let entered = GatewayRegistration::enter(instance_id, beside, Arc::clone(&reachability), pool.wait_timeout());
        let registration = entered.await?;
        let engine = Self {
            pool,
            listener,
            url: settings.url.clone(),
            transaction_permits: Arc::new(Semaphore::new(connections_max - connections_max.div_ceil(4))),
            reachability,
            transaction_timeout: Duration::from_millis(settings.transaction_timeout_ms),
            transaction_idle: Duration::from_millis(settings.transaction_idle_ms),
            registration,
        };
        let mut first = engine.pool.acquire(None).await?;
        let is_behind_pooler = !first.get()?.state.has_startup_options;
        first.return_to_pool();
        if is_behind_pooler && settings.prepared {
            tracing::warn!(
                "there is a pooler before PostgreSQL: set database.prepared = false unless it knows prepared statements"
            );
        }
        engine.reachability.watch(Connector::bare(&settings.url)?);
        migrator::create_migrations_table(engine.tool_connection().await?).await?;
        Ok(engine)
    }

    pub(crate) fn url(&self) -> &SecretString {
        &self.url
    }

    pub(crate) async fn read(&self, statement: &CheckedStatement) -> Result<Rows, StorageError> {
        let read = self.pool.read(&[Query::new(statement)]).await;
        let rows = read.map_err(|error| self.statement_error(statement, error))?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    /// The error of a statement; that of one that was too slow says how much time it had.
    pub(super) fn statement_error(&self, statement: &CheckedStatement, error: StorageError) -> StorageError {
        match error {
            StorageError::Timeout(_) => slow_statement::stopped(statement, self.pool.statement_timeout),
            StorageError::Unavailable(_) => {
                self.report_failure();
                error
            }
            other => other,
        }
    }

    /// A connection failed: the server may be away.
    pub(super) fn report_failure(&self) {
        self.pool.report_failure();
    }

    /// How long a statement waits for a connection, and then for the server.
    pub(super) fn wait_timeout(&self) -> Duration {
        self.pool.wait_timeout()
    }

    pub(super) async fn acquire_for_transaction(&self) -> Result<PooledConnection, StorageError> {
        let permit = Arc::clone(&self.transaction_permits).acquire_owned();
        let permit = self
            .reachability
            .while_reachable(timeout(self.wait_timeout(), permit))
            .await?
            .map_err(|_elapsed: Elapsed| StorageError::waited(TRANSACTIONS_WAIT, self.wait_timeout()))?
            .map_err(|_closed: AcquireError| StorageError::Unavailable("the database is closed".to_owned()))?;
        self.pool.acquire(Some(permit)).await
    }

    /// The error of a transaction that waited for another one of its plugin to end.
    pub(super) fn lock_wait_error(&self, error: StorageError) -> StorageError {
        match error {
            StorageError::Timeout(_) | StorageError::Busy(_) => {
                StorageError::waited("another transaction of the plugin has been open", self.pool.statement_timeout)
            }
            other => other,
        }
    }

    /// Which limit a transaction has exceeded, if any.
    pub(super) fn exceeded_limit(&self, deadline: Instant, idle_since: Instant) -> Option<&'static str> {
        if Instant::now() > deadline {
            Some(OPEN_TOO_LONG)
        } else if idle_since.elapsed() > self.transaction_idle {
            Some(IDLE_TOO_LONG)
        } else {
            None
        }
    }

    pub(crate) async fn migrate(
        &self,
        owner: &str,
        steps: Vec<RenderedMigration>,
    ) -> Result<MigrationReport, StorageError> {
        migrator::apply(self.tool_connection().await?, owner, steps).await
    }

    pub(crate) async fn execute_batch(&self, sql: &str, statements: &[CheckedStatement]) -> Result<(), StorageError> {
        migrator::execute_batch(self.tool_connection().await?, sql, statements).await
    }

    pub(crate) async fn applied_migrations(&self, owner: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
        migrator::list_applied_migrations(self.tool_connection().await?, owner).await
    }

    /// A connection of sqlx, which migrations use.
    async fn tool_connection(&self) -> Result<PgConnection, StorageError> {
        if self.pool.is_closed() {
            return Err(StorageError::Unavailable("the database is closed".into()));
        }
        let connect = timeout(self.wait_timeout(), tools::connect(&self.url));
        let connected = self.reachability.while_reachable(connect).await?;
        connected.map_err(|_elapsed: Elapsed| no_answer())?
    }

    /// Waits for what is running.
    pub(crate) async fn close(&self) {
        self.transaction_permits.close();
        self.pool.close().await;
        self.registration.leave().await;
    }
}
