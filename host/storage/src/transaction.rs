//! A transaction as the gateway holds it: opened by its first statements, ended once.

use super::{
    Database, Engine, Scope, StorageError,
    check::{Admitted, Purpose},
    postgres::Session,
    sqlite::Conversation,
};
use parking_lot::Mutex;
use plugin_api::abi::{Outcome, Statement};
use std::sync::Arc;

/// They wait in memory.
const DEFERRED_MAX: usize = 20_000;

/// One of the gateway's own statements at the end of a transaction.
#[derive(Clone, Debug)]
pub struct Final {
    pub statement: Statement,
    /// Without a row in its outcome everything is rolled back and `commit` answers [`StorageError::Rejected`].
    pub must_give_row: bool,
}

impl Final {
    pub fn new(statement: Statement) -> Self {
        Self { statement, must_give_row: false }
    }

    pub fn expecting_row(statement: Statement) -> Self {
        Self { statement, must_give_row: true }
    }
}

/// Statements that take effect together or not at all. A failed one ends it: everything is rolled back, and later calls
/// answer [`StorageError::Closed`]. So does dropping the future of a call. Dropped without `commit`, it rolls back.
pub struct Transaction {
    database: Database,
    scope: Scope,
    side: Side,
    deferred: Mutex<Deferred>,
}

/// Statements that run before the next ones, without an answer.
#[derive(Default)]
struct Deferred {
    statements: Vec<Admitted>,
    /// Place of the last one in the scope of the transaction.
    last_own: Option<usize>,
}

impl Deferred {
    fn push(&mut self, admitted: Admitted) -> Result<(), StorageError> {
        if self.statements.len() >= DEFERRED_MAX {
            let text = format!("{DEFERRED_MAX} statements are deferred already: wait for one of them");
            return Err(StorageError::statement(text));
        }
        self.statements.push(admitted);
        Ok(())
    }
}

enum Side {
    Sqlite(Conversation),
    Postgres(Session),
}

impl Transaction {
    pub(super) fn new(database: Database, scope: Scope) -> Self {
        let side = match &database.shared.engine {
            Engine::Sqlite(sqlite) => Side::Sqlite(sqlite.begin(scope.plugin_name(), scope.triggers())),
            Engine::Postgres(postgres) => Side::Postgres(Session::new(Arc::clone(postgres), scope.plugin_name())),
        };
        Self { database, scope, side, deferred: Mutex::default() }
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether it has reached the database, or will: if not, there is nothing to commit.
    pub fn is_opened(&self) -> bool {
        !self.deferred.lock().statements.is_empty()
            || match &self.side {
                Side::Sqlite(conversation) => conversation.is_opened(),
                Side::Postgres(session) => session.is_opened(),
            }
    }

    /// Takes a statement that runs before the next ones, in the scope the transaction was begun with.
    pub fn defer(&self, statement: Statement) -> Result<(), StorageError> {
        let mut deferred = self.deferred.lock();
        let last = deferred.last_own.and_then(|place| deferred.statements.get(place));
        let admitted = match last.filter(|last| last.sql() == statement.sql.as_str()) {
            Some(last) => last.again(statement).inspect_err(|_| self.end("a statement failed"))?,
            None => self.admit(&self.scope, statement)?,
        };
        deferred.push(admitted)?;
        deferred.last_own = Some(deferred.statements.len() - 1);
        Ok(())
    }

    /// As [`Self::defer`], for the gateway's own statements in the transaction of a plugin.
    pub fn defer_as_host(&self, statement: Statement) -> Result<(), StorageError> {
        let admitted = self.admit(&Scope::Host, statement)?;
        self.deferred.lock().push(admitted)
    }

    /// How many statements wait for the next ones.
    pub fn deferred_count(&self) -> usize {
        self.deferred.lock().statements.len()
    }

    /// Runs what was deferred, then the statements in order, in the scope it was begun with.
    pub async fn run(&self, statements: Vec<Statement>) -> Result<Vec<Outcome>, StorageError> {
        self.run_in(&self.scope, statements).await
    }

    async fn run_in(&self, scope: &Scope, statements: Vec<Statement>) -> Result<Vec<Outcome>, StorageError> {
        let admit = |statement| self.admit(scope, statement);
        let admitted: Vec<Admitted> = statements.into_iter().map(admit).collect::<Result<_, _>>()?;
        let mut all = std::mem::take(&mut *self.deferred.lock()).statements;
        let before = all.len();
        all.extend(admitted);
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let _timer = self.scope.time_write();
        let result = match &self.side {
            Side::Sqlite(conversation) => conversation.run(all).await,
            Side::Postgres(session) => Box::pin(session.run(&all)).await,
        };
        self.database.note(result).map(|mut outcomes| outcomes.split_off(before))
    }

    /// As [`Self::run`], for the gateway's own statements in the transaction of a plugin.
    pub async fn run_as_host(&self, statements: Vec<Statement>) -> Result<Vec<Outcome>, StorageError> {
        self.run_in(&Scope::Host, statements).await
    }

    /// Runs the gateway's own last statements and commits, all in one call to the database. Answers when the commit is
    /// durable. When the connection fails during the commit itself, the answer is `Unavailable` and the outcome unknown.
    pub async fn commit(&self, last: Vec<Final>) -> Result<Vec<Outcome>, StorageError> {
        if last.is_empty() && !self.is_opened() {
            self.end("it was committed");
            return Ok(Vec::new());
        }
        let admit = |last: Final| {
            let admitted = self.admit(&Scope::Host, last.statement)?;
            Ok((admitted, last.must_give_row))
        };
        let last: Vec<(Admitted, bool)> = last.into_iter().map(admit).collect::<Result<_, StorageError>>()?;
        // A statement of the commit is known by its place among them.
        Box::pin(self.run(Vec::new())).await?;
        let _timer = self.scope.time_write();
        let result = match &self.side {
            Side::Sqlite(conversation) => conversation.commit(last).await,
            Side::Postgres(session) => Box::pin(session.commit(&last)).await,
        };
        self.database.note(result)
    }

    /// Rolls back and answers when that is done.
    pub async fn rollback(&self) {
        *self.deferred.lock() = Deferred::default();
        match &self.side {
            Side::Sqlite(conversation) => conversation.rollback().await,
            Side::Postgres(session) => Box::pin(session.rollback()).await,
        }
    }

    fn admit(&self, scope: &Scope, statement: Statement) -> Result<Admitted, StorageError> {
        let checker = &self.database.shared.checker;
        checker.admit(scope, statement, Purpose::Transaction).inspect_err(|_| self.end("a statement failed"))
    }

    fn end(&self, reason: &'static str) {
        match &self.side {
            Side::Sqlite(conversation) => conversation.end(reason),
            Side::Postgres(session) => session.end_now(reason),
        }
    }
}
