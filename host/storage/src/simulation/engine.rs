//! One client of the simulated server, behind [`crate::Database`].

use super::{
    migrate,
    notifications::SimulatedNotifications,
    open_transaction::{ClientId, Request},
    server::{Server, away},
    store::StatementFailure,
};
use crate::{
    check::CheckedStatement,
    error::StorageError,
    migrations::{AppliedMigration, MigrationReport, RenderedMigration},
    settings::DatabaseSettings,
    sqlite,
};
use plugin_api::abi::Rows;
use secrecy::ExposeSecret as _;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

pub(crate) struct SimulatedEngine {
    pub(super) server: Arc<Server>,
    pub(super) client: ClientId,
    pub(super) statement_timeout: Duration,
    pub(super) transaction_timeout: Duration,
    pub(super) transaction_idle: Duration,
    listens: bool,
    is_closed: AtomicBool,
}

impl SimulatedEngine {
    /// `None` where the address is that of a real server.
    pub(crate) fn open(settings: &DatabaseSettings) -> Option<Result<Arc<Self>, StorageError>> {
        let open = |server: Arc<Server>| {
            server.state().look(migrate::create_migrations_table)?;
            let client = server.state().connect();
            let listen_url = settings.listen_url.as_ref();
            Ok(Arc::new(Self {
                server,
                client,
                statement_timeout: Duration::from_millis(settings.statement_timeout_ms),
                transaction_timeout: Duration::from_millis(settings.transaction_timeout_ms),
                transaction_idle: Duration::from_millis(settings.transaction_idle_ms),
                listens: listen_url.is_some_and(|url| !url.expose_secret().is_empty()),
                is_closed: AtomicBool::new(false),
            }))
        };
        Server::of_url(&settings.url).map(|server| server.and_then(open))
    }

    pub(crate) async fn read(&self, statement: &CheckedStatement) -> Result<Rows, StorageError> {
        self.reach().await?;
        let rows = {
            let request = self.request(statement)?;
            let now_ms = self.server.now_ms();
            let mut state = self.server.state();
            let outcome = state.read(&request.statement, &request.params, now_ms);
            state.note(&(statement.sql(), &request.params, &outcome));
            outcome.map(|outcome| outcome.result().rows).map_err(StatementFailure::into_error)
        };
        self.server.travel().await;
        rows
    }

    /// See [`crate::Database::peek_texts`].
    pub(crate) fn peek_texts(&self, table: &str, query: &str) -> Result<Vec<String>, StorageError> {
        let texts = |connection: &rusqlite::Connection| {
            if !connection.table_exists(None, table)? {
                return Ok(Vec::new());
            }
            connection.prepare(query)?.query_map([], |row| row.get(0))?.collect()
        };
        self.server.state().look(|connection| texts(connection).map_err(|error| sqlite::storage_error(&error)))
    }

    pub(super) fn request(&self, statement: &CheckedStatement) -> Result<Request, StorageError> {
        let translated = self.server.state().translate(statement.sql(), &statement.info)?;
        Ok(Request { statement: translated, params: statement.statement.params.iter().cloned().collect() })
    }

    /// Takes the time of the way there.
    pub(super) async fn reach(&self) -> Result<(), StorageError> {
        self.require_open()?;
        self.server.reach().await
    }

    fn require_open(&self) -> Result<(), StorageError> {
        if self.is_closed.load(Relaxed) {
            return Err(StorageError::Unavailable("the database is closed".into()));
        }
        if self.server.state().is_away { Err(away()) } else { Ok(()) }
    }

    pub(crate) async fn migrate(
        &self,
        owner: &str,
        steps: Vec<RenderedMigration>,
    ) -> Result<MigrationReport, StorageError> {
        self.reach().await?;
        self.server.state().commit_outside(|connection| migrate::apply(connection, owner, steps))
    }

    pub(crate) async fn execute_batch(&self, sql: &str, statements: &[CheckedStatement]) -> Result<(), StorageError> {
        self.reach().await?;
        self.server.state().commit_outside(|connection| migrate::execute_batch(connection, sql, statements))
    }

    pub(crate) async fn applied_migrations(&self, owner: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
        self.reach().await?;
        self.server.state().look(|connection| sqlite::applied_migrations(connection, owner))
    }

    /// `None` when the server is unavailable, or nothing is to be listened for.
    pub(crate) fn listen(&self, channel: &str) -> Option<SimulatedNotifications> {
        self.require_open().ok()?;
        self.listens.then(|| SimulatedNotifications::new(Arc::clone(&self.server), channel))
    }

    pub(crate) fn notify(&self, channel: &str) {
        if self.require_open().is_ok() {
            self.server.notify(channel);
        }
    }

    pub(crate) fn close(&self) {
        self.is_closed.store(true, Relaxed);
    }
}

impl StatementFailure {
    /// As the real engine's errors are.
    pub(super) fn into_error(self) -> StorageError {
        match self {
            Self::DivisionByZero => StorageError::Statement("a value does not fit its type (code 22012)".to_owned()),
            Self::Other(error) => error,
        }
    }
}
