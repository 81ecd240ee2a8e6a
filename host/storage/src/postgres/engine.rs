//! The open PostgreSQL database: its connection pool and time limits.

use super::{
    connector::{Connector, SessionManager},
    error::{ExecuteError, POOL_TIMED_OUT},
    migrator,
    pipeline::Pipeline,
    pooled_connection::PooledConnection,
    presence::Presence,
    query::{PlanFor, Query},
    reachability::Reachability,
    session::Session,
    session_settings::SessionSettings,
    tools,
};
use crate::{
    check::CheckedStatement,
    error::StorageError,
    migrations::{AppliedMigration, MigrationReport, MigrationStep},
    result_budget::ResultBudget,
    settings::DatabaseSettings,
};
use deadpool::{
    Runtime,
    managed::{Object, Pool, PoolError, TimeoutType},
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
    time::{error::Elapsed, sleep, timeout},
};

/// How much longer than the server's limit the client waits before it closes the connection.
const CLIENT_GRACE: Duration = Duration::from_secs(5);
const TRANSACTIONS_WAIT: &str = "as many transactions as there may be have been open";
const CLOSE_POLL: Duration = Duration::from_millis(5);

pub struct PostgresEngine {
    pool: Pool<SessionManager>,
    connector: Arc<Connector>,
    /// For notifications; `None` where they are not listened for.
    pub(super) listener: Option<Connector>,
    url: SecretString,
    /// Limits the transactions that hold a connection, because they may wait for locks: some connections stay free for
    /// reads.
    transaction_permits: Arc<Semaphore>,
    pub(super) reachability: Arc<Reachability>,
    pub(super) session_settings: SessionSettings,
    statement_timeout: Duration,
    transaction_timeout: Duration,
    transaction_idle: Duration,
    presence: Presence,
}

impl PostgresEngine {
    pub async fn open(settings: &DatabaseSettings) -> Result<Self, StorageError> {
        let session_settings = SessionSettings::new(settings);
        let connector = Arc::new(Connector::new(&settings.url, session_settings.clone(), settings.prepared)?);
        let listen_url = settings.listen_url.as_ref().unwrap_or(&settings.url);
        let listens = !listen_url.expose_secret().is_empty();
        let listener = listens.then(|| Connector::bare(listen_url)).transpose()?;
        let reachability = Arc::<Reachability>::default();
        let statement_timeout = Duration::from_millis(settings.statement_timeout_ms);
        let wait_timeout = statement_timeout + CLIENT_GRACE;
        let pool_max = usize::try_from(settings.pool_max.max(2)).unwrap_or(usize::MAX);
        let manager =
            SessionManager { connector: Arc::clone(&connector), dead_connection: reachability.dead_connection() };
        let pool = Pool::builder(manager)
            .max_size(pool_max)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(wait_timeout))
            .create_timeout(Some(wait_timeout))
            .build()
            .map_err(|error| StorageError::Internal(format!("the pool cannot be built: {error}")))?;
        let beside = Connector::bare(&settings.url)?;
        let presence = Presence::enter(beside, Arc::clone(&reachability), wait_timeout).await?;
        let engine = Self {
            pool,
            connector,
            listener,
            url: settings.url.clone(),
            transaction_permits: Arc::new(Semaphore::new(pool_max - pool_max.div_ceil(4))),
            reachability,
            session_settings,
            statement_timeout,
            transaction_timeout: Duration::from_millis(settings.transaction_timeout_ms),
            transaction_idle: Duration::from_millis(settings.transaction_idle_ms),
            presence,
        };
        let mut first = engine.acquire().await?;
        if settings.prepared && !first.get()?.state.has_limits {
            tracing::warn!(
                "there is a pooler before PostgreSQL: set database.prepared = false unless it knows prepared statements"
            );
        }
        first.return_to_pool();
        engine.reachability.watch(Connector::bare(&settings.url)?);
        migrator::create_migrations_table(engine.tool_connection().await?).await?;
        Ok(engine)
    }

    pub fn url(&self) -> &SecretString {
        &self.url
    }

    pub async fn read(&self, statement: &CheckedStatement) -> Result<Rows, StorageError> {
        let mut connection = self.acquire().await?;
        let query = [Query::new(statement)];
        let read = self.reachability.unless_away(self.read_on(&mut connection, &query)).await;
        match read.inspect_err(|_| self.suspect())? {
            Ok(rows) => {
                connection.return_to_pool();
                Ok(rows)
            }
            Err(error) => {
                if error.is_connection_usable {
                    connection.return_to_pool();
                }
                Err(self.statement_error(statement, error.error))
            }
        }
    }

    /// After a change of the table the statement is prepared again, once.
    async fn read_on(&self, connection: &mut PooledConnection, query: &[Query<'_>; 1]) -> Result<Rows, ExecuteError> {
        let session = connection.get()?;
        match self.read_in_time(session, query).await {
            Err(error) if error.is_plan_stale => {
                session.forget_prepared();
                self.read_in_time(session, query).await
            }
            result => result,
        }
    }

    /// The server stops a statement that is too slow, if it knows the limit. Otherwise it is asked to, when the connection is
    /// dropped.
    async fn read_in_time(&self, session: &mut Session, query: &[Query<'_>; 1]) -> Result<Rows, ExecuteError> {
        let (limit, error) = if session.state.has_limits {
            (self.wait_timeout(), silent())
        } else {
            (self.statement_timeout, StorageError::Timeout("the statement was stopped".into()))
        };
        let read = timeout(limit, read_once(session, query, self.wait_timeout()));
        read.await.map_err(|_elapsed: Elapsed| ExecuteError::from(error)).flatten()
    }

    /// The error of a statement; that of one that was too slow says how much time it had.
    pub(super) fn statement_error(&self, statement: &CheckedStatement, error: StorageError) -> StorageError {
        match error {
            StorageError::Timeout(_) => statement.slow_error(self.statement_timeout),
            StorageError::Unavailable(_) => {
                self.suspect();
                error
            }
            other => other,
        }
    }

    /// A connection failed: the server may be away.
    pub(super) fn suspect(&self) {
        self.reachability.dead_connection().notify_one();
    }

    async fn acquire(&self) -> Result<PooledConnection, StorageError> {
        Ok(PooledConnection::new(self.pooled().await?, Arc::clone(&self.connector), None))
    }

    async fn pooled(&self) -> Result<Object<SessionManager>, StorageError> {
        self.reachability.unless_away(self.pool.get()).await?.map_err(|error| match error {
            PoolError::Timeout(TimeoutType::Wait) => StorageError::waited(POOL_TIMED_OUT, self.wait_timeout()),
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => silent(),
            PoolError::Backend(error) => error,
            PoolError::Closed => StorageError::Unavailable("the database is closed".into()),
            PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                StorageError::Internal("the pool of connections failed".into())
            }
        })
    }

    /// How long a statement waits for a connection, and then for the server.
    pub(super) fn wait_timeout(&self) -> Duration {
        self.statement_timeout + CLIENT_GRACE
    }

    pub(super) async fn acquire_for_transaction(&self) -> Result<PooledConnection, StorageError> {
        let permit = Arc::clone(&self.transaction_permits).acquire_owned();
        let permit = self
            .reachability
            .unless_away(timeout(self.wait_timeout(), permit))
            .await?
            .map_err(|_elapsed: Elapsed| StorageError::waited(TRANSACTIONS_WAIT, self.wait_timeout()))?
            .map_err(|_closed: AcquireError| StorageError::Unavailable("the database is closed".to_owned()))?;
        Ok(PooledConnection::new(self.pooled().await?, Arc::clone(&self.connector), Some(permit)))
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
        migrator::apply(self.tool_connection().await?, owner, steps).await
    }

    pub async fn execute_batch(&self, sql: &str) -> Result<(), StorageError> {
        migrator::execute_batch(self.tool_connection().await?, sql).await
    }

    pub async fn applied_migrations(&self, owner: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
        migrator::list_applied_migrations(self.tool_connection().await?, owner).await
    }

    /// A connection of sqlx, which migrations use.
    async fn tool_connection(&self) -> Result<PgConnection, StorageError> {
        if self.pool.is_closed() {
            return Err(StorageError::Unavailable("the database is closed".into()));
        }
        let connect = timeout(self.wait_timeout(), tools::connect(&self.url));
        let connected = self.reachability.unless_away(connect).await?;
        connected.map_err(|_elapsed: Elapsed| silent())?
    }

    /// Waits for what is running.
    pub async fn close(&self) {
        self.reachability.stop_watching();
        self.transaction_permits.close();
        self.pool.close();
        let all_returned = async {
            while self.pool.status().size > 0 {
                sleep(CLOSE_POLL).await;
            }
        };
        let _ = timeout(self.wait_timeout(), all_returned).await;
        self.presence.leave().await;
    }
}

pub(super) fn silent() -> StorageError {
    StorageError::Unavailable("the server does not answer".into())
}

async fn read_once(session: &mut Session, query: &[Query<'_>; 1], patience: Duration) -> Result<Rows, ExecuteError> {
    let forms = session.prepare(query, PlanFor::Anything).await.map_err(|(_, error)| error)?;
    let pipeline = Pipeline { begin: None, queries: query, forms: &forms, end: None, patience };
    let outcomes = session.run(&pipeline, &mut ResultBudget::new()).await.map_err(|failed| failed.error)?;
    Ok(outcomes.into_iter().next().map(|outcome| outcome.rows).unwrap_or_default())
}
