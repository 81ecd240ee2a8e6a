//! The database, SQLite or PostgreSQL, with one behaviour.
//!
//! The rule that must not break: **a write is acknowledged only when it is durable; one that is not acknowledged has left
//! no trace, and where the answer got lost it was done once.** The suite in `tests/it/storage/` runs on both databases.

mod backup;
pub(crate) mod check;
mod error;
mod limits;
mod migrate;
mod pace;
mod postgres;
pub mod read_tracking;
mod scope;
mod settings;
mod sqlite;
mod transaction;
mod versions;

#[cfg(test)]
mod fuzz;

pub use backup::{BackupError, Restore, Restored};
pub use error::StorageError;
pub use migrate::{AppliedMigration, MigrationReport, Schema};
pub use read_tracking::ReadDependencies;
pub use scope::{Scope, ViewNames, is_reserved, shares_tables};
pub use settings::DatabaseSettings;
pub use transaction::{Final, Transaction};
pub use versions::{Moment, Version, Versions};

pub use check::Admitted;
use check::{Checker, Purpose};
use parking_lot::Mutex;
use plugin_api::abi::{Rows, Statement};
use postgres::Postgres;
pub use postgres::Wakes;
use sqlite::Sqlite;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// How far a read has come.
pub enum Read {
    Done(Result<Rows, StorageError>),
    /// It runs on another thread, or on a server.
    Waits(Admitted),
}

/// An open database; clones share it.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    checker: Checker,
    dialect: Dialect,
    engine: Engine,
    /// When a call was last answered `Unavailable`.
    away: Mutex<Option<Instant>>,
}

enum Engine {
    Sqlite(Sqlite),
    Postgres(Arc<Postgres>),
}

impl Database {
    pub async fn open(settings: DatabaseSettings) -> Result<Self, StorageError> {
        let dialect = settings.dialect()?;
        let engine = match dialect {
            Dialect::Sqlite => Engine::Sqlite(open_sqlite(settings).await?),
            Dialect::Postgres => Engine::Postgres(Arc::new(Postgres::open(&settings).await?)),
        };
        let shared = Shared { checker: Checker::new(dialect), dialect, engine, away: Mutex::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub fn dialect(&self) -> Dialect {
        self.shared.dialect
    }

    /// Runs one statement that only reads, on a snapshot of its own. Dropping the future stops it.
    pub async fn read(&self, scope: &Scope, statement: Statement) -> Result<Rows, StorageError> {
        match self.read_now(scope, statement) {
            Read::Done(result) => result,
            Read::Waits(admitted) => self.read_admitted(scope, admitted).await,
        }
    }

    /// As [`Self::read`], but what would wait is handed back, for [`Self::read_admitted`].
    pub fn read_now(&self, scope: &Scope, statement: Statement) -> Read {
        let admitted = match self.shared.checker.admit(scope, statement, Purpose::Read) {
            Ok(admitted) => admitted,
            Err(error) => return Read::Done(self.note_read(Err(error))),
        };
        admitted.note_sources(scope);
        if let Engine::Sqlite(sqlite) = &self.shared.engine {
            let timer = scope.time_read();
            if let Some(rows) = sqlite.read_now(&admitted) {
                return Read::Done(Ok(rows));
            }
            if let Some(timer) = timer {
                timer.forget();
            }
        }
        Read::Waits(admitted)
    }

    pub async fn read_admitted(&self, scope: &Scope, admitted: Admitted) -> Result<Rows, StorageError> {
        let _timer = scope.time_read();
        let result = match &self.shared.engine {
            Engine::Sqlite(sqlite) => sqlite.read(admitted).await,
            // Boxed: the driver's futures are large, and a future that holds them costs SQLite's callers its moves.
            Engine::Postgres(postgres) => Box::pin(postgres.read(&admitted)).await,
        };
        self.note_read(result)
    }

    fn note_read(&self, result: Result<Rows, StorageError>) -> Result<Rows, StorageError> {
        if result.is_err() {
            read_tracking::mark_uncacheable();
        }
        self.note(result)
    }

    /// How new its data is, where this process alone writes it. PostgreSQL has other gateways: to ask it for a version
    /// costs as much as to ask it for the answer.
    pub fn versions(&self) -> Option<&Arc<Versions>> {
        match &self.shared.engine {
            Engine::Sqlite(sqlite) => Some(sqlite.versions()),
            Engine::Postgres(_) => None,
        }
    }

    /// A transaction that opens with its first statements.
    pub fn begin(&self, scope: Scope) -> Transaction {
        Transaction::new(self.clone(), scope)
    }

    /// Applies what is pending of one plugin's migrations, all in one transaction.
    pub async fn migrate(&self, schema: &Schema<'_>) -> Result<MigrationReport, StorageError> {
        let steps = schema.steps(self.shared.dialect)?;
        match &self.shared.engine {
            Engine::Sqlite(sqlite) => sqlite.migrate(schema.owner().to_owned(), steps).await,
            Engine::Postgres(postgres) => postgres.migrate(schema.owner(), steps).await,
        }
    }

    /// Runs the gateway's own definitions that are not numbered steps, triggers on plugins' tables for instance: all of the
    /// text in one transaction. It is not checked and holds nothing that came from outside.
    pub async fn define(&self, sql: &str) -> Result<(), StorageError> {
        match &self.shared.engine {
            Engine::Sqlite(sqlite) => sqlite.define(sql.to_owned()).await,
            Engine::Postgres(postgres) => postgres.define(sql).await,
        }
    }

    /// The migrations that were applied, of one plugin (`host` for the gateway's own) or of all.
    pub async fn migration_status(&self, plugin: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
        match &self.shared.engine {
            Engine::Sqlite(sqlite) => sqlite.applied(plugin.map(str::to_owned)).await,
            Engine::Postgres(postgres) => postgres.applied(plugin).await,
        }
    }

    /// Notifications of other gateways; `None` on SQLite, which has one gateway, and while the server is away.
    pub async fn listen(&self, channel: &str) -> Option<Wakes> {
        match &self.shared.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => postgres.listen(channel).await,
        }
    }

    /// Whether the database answers.
    pub async fn probe(&self) -> Result<(), StorageError> {
        if let Engine::Sqlite(sqlite) = &self.shared.engine
            && !sqlite.is_serving()
        {
            return Err(StorageError::Internal("a database thread has ended".into()));
        }
        let statement = Statement { sql: "SELECT 1".into(), params: Vec::new().into() };
        self.read(&Scope::Host, statement).await.map(|_| ())
    }

    /// Whether some call of that time found no database.
    pub fn was_away_within(&self, window: Duration) -> bool {
        self.shared.away.lock().is_some_and(|last| last.elapsed() < window)
    }

    fn note<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        if let Err(StorageError::Unavailable(_)) = &result {
            *self.shared.away.lock() = Some(Instant::now());
        }
        result
    }

    /// Lets the calls that wait finish, then closes. Later calls answer `Unavailable`.
    pub async fn close(&self) {
        match &self.shared.engine {
            Engine::Sqlite(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }
}

/// Opening may replay a log: not on a thread that serves requests.
async fn open_sqlite(settings: DatabaseSettings) -> Result<Sqlite, StorageError> {
    let open = move || Sqlite::open(&settings.sqlite_path()?, &settings);
    tokio::task::spawn_blocking(open)
        .await
        .map_err(|error| StorageError::Internal(format!("opening failed: {error}")))?
}
