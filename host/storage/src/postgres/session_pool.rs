//! The connections to one server, and reads on them outside of transactions.

use super::{
    connector::{Connector, SessionManager},
    error::{ExecuteError, POOL_TIMED_OUT, no_answer},
    pipeline::Pipeline,
    pipeline_step::Begin,
    pooled_connection::PooledConnection,
    query::{PlanFor, Query},
    reachability::Reachability,
    session::Session,
    session_settings::SessionSettings,
};
use crate::{
    database::resources::PoolStatus,
    error::StorageError,
    settings::DatabaseSettings,
    statements::{result_budget::ResultBudget, slow_statement::SlowStatementLog},
};
use deadpool::{
    Runtime,
    managed::{Pool, PoolError, TimeoutType},
};
use plugin_api::abi::Rows;
use secrecy::SecretString;
use std::{borrow::Cow, sync::Arc, time::Duration};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{error::Elapsed, sleep, timeout},
};

/// How much longer than the server's limit the client waits before it closes the connection.
const CLIENT_GRACE: Duration = Duration::from_secs(5);
const BEGIN_READ: Begin<'static> = Begin { statements: &[Cow::Borrowed("BEGIN READ ONLY")], waits: false };
const CLOSE_POLL: Duration = Duration::from_millis(5);

pub(crate) struct SessionPool {
    sessions: Pool<SessionManager>,
    connector: Arc<Connector>,
    pub reachability: Arc<Reachability>,
    pub session_settings: SessionSettings,
    pub statement_timeout: Duration,
    pub slow_statements: SlowStatementLog,
}

impl SessionPool {
    pub(super) fn status(&self) -> PoolStatus {
        let status = self.sessions.status();
        PoolStatus { max: status.max_size, open: status.size, idle: status.available, waiting: status.waiting }
    }

    /// Of the server at `url`, with the limits of `settings`. Connects when a connection is needed.
    pub(crate) fn new(
        url: &SecretString,
        settings: &DatabaseSettings,
        reachability: Reachability,
    ) -> Result<Self, StorageError> {
        let session_settings = SessionSettings::new(settings);
        let connector = Arc::new(Connector::new(url, session_settings.clone(), settings.prepared)?);
        let statement_timeout = Duration::from_millis(settings.statement_timeout_ms);
        let wait_timeout = statement_timeout + CLIENT_GRACE;
        let manager =
            SessionManager { connector: Arc::clone(&connector), dead_connection: reachability.dead_connection() };
        let sessions = Pool::builder(manager)
            .max_size(settings.connections_max())
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(wait_timeout))
            .create_timeout(Some(wait_timeout))
            .build()
            .map_err(|error| StorageError::Internal(format!("the pool cannot be built: {error}")))?;
        Ok(Self {
            sessions,
            connector,
            reachability: Arc::new(reachability),
            session_settings,
            statement_timeout,
            slow_statements: SlowStatementLog::new(settings),
        })
    }

    /// How long a statement waits for a connection, and then for the server.
    pub(crate) fn wait_timeout(&self) -> Duration {
        self.statement_timeout + CLIENT_GRACE
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.sessions.is_closed()
    }

    /// A connection. The permit is held as long as it.
    pub(crate) async fn acquire(&self, permit: Option<OwnedSemaphorePermit>) -> Result<PooledConnection, StorageError> {
        let session = self.reachability.while_reachable(self.sessions.get()).await?;
        let session = session.map_err(|error| self.pool_error(error))?;
        Ok(PooledConnection::new(session, Arc::clone(&self.connector), permit))
    }

    fn pool_error(&self, error: PoolError<StorageError>) -> StorageError {
        match error {
            PoolError::Timeout(TimeoutType::Wait) => StorageError::waited(POOL_TIMED_OUT, self.wait_timeout()),
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => no_answer(),
            PoolError::Backend(error) => error,
            PoolError::Closed => StorageError::Unavailable("the database is closed".into()),
            PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                StorageError::Internal("the pool of connections failed".into())
            }
        }
    }

    /// Runs statements that read, one after the other in one round trip, each on a snapshot of its own. Several are one
    /// transaction, so that a pooler sends them to one server.
    pub(crate) async fn read(&self, queries: &[Query<'_>]) -> Result<Vec<Rows>, StorageError> {
        let mut connection = self.acquire(None).await?;
        let read = self.reachability.while_reachable(self.read_on(&mut connection, queries)).await;
        match read.inspect_err(|_| self.report_failure())? {
            Ok(rows) => {
                connection.return_to_pool();
                Ok(rows)
            }
            Err(error) => {
                // The answers to later statements are still on their way.
                if error.is_connection_usable && queries.len() == 1 {
                    connection.return_to_pool();
                }
                Err(error.error)
            }
        }
    }

    /// After a change of the table the statement is prepared again, once.
    async fn read_on(
        &self,
        connection: &mut PooledConnection,
        queries: &[Query<'_>],
    ) -> Result<Vec<Rows>, ExecuteError> {
        let session = connection.get()?;
        match self.read_in_time(session, queries).await {
            Err(error) if error.is_plan_stale => {
                session.forget_prepared();
                self.read_in_time(session, queries).await
            }
            result => result,
        }
    }

    /// The server stops a statement that is too slow, if it knows the limit. Otherwise it is asked to, when the connection is
    /// dropped.
    async fn read_in_time(&self, session: &mut Session, queries: &[Query<'_>]) -> Result<Vec<Rows>, ExecuteError> {
        let (limit, error) = if session.state.has_startup_options {
            (self.wait_timeout(), no_answer())
        } else {
            (self.statement_timeout, StorageError::Timeout("the statement was stopped".into()))
        };
        let read = timeout(limit, self.read_once(session, queries));
        read.await.map_err(|_elapsed: Elapsed| ExecuteError::from(error)).flatten()
    }

    async fn read_once(&self, session: &mut Session, queries: &[Query<'_>]) -> Result<Vec<Rows>, ExecuteError> {
        let (begin, end) = if queries.len() > 1 { (Some(BEGIN_READ), Some("COMMIT")) } else { (None, None) };
        let forms = session.prepare(queries, PlanFor::Anything, begin, end).await.map_err(|(_, error)| error)?;
        let (answer_limit, slow_statements) = (self.wait_timeout(), self.slow_statements);
        let pipeline = Pipeline { begin, queries, forms: &forms, end, answer_limit, slow_statements };
        let outcomes = session.run(&pipeline, &mut ResultBudget::new()).await.map_err(|failed| failed.error)?;
        Ok(outcomes.into_iter().map(|outcome| outcome.rows).collect())
    }

    /// A connection failed: the server may be away.
    pub(crate) fn report_failure(&self) {
        self.reachability.dead_connection().notify_one();
    }

    /// Waits for what is running.
    pub(crate) async fn close(&self) {
        self.reachability.stop_watching();
        self.sessions.close();
        let all_returned = async {
            while self.sessions.status().size > 0 {
                sleep(CLOSE_POLL).await;
            }
        };
        let _ = timeout(self.wait_timeout(), all_returned).await;
    }
}
