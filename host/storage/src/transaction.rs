//! A transaction on either engine: begun by its first statements, ended once.

use crate::{
    check::{AccessMode, CheckedStatement, check_param_bytes},
    commit_statement::{CommitRefusal, CommitStatement},
    database::engine::{DatabaseInner, Engine},
    error::StorageError,
    postgres::PostgresTransaction,
    scope::Scope,
    sqlite::SqliteTransaction,
    statements::{bounds::CALL_STATEMENTS_MAX, slow_statement},
};
use parking_lot::Mutex;
use plugin_api::abi::{Statement, StatementResult};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Statements that take effect together or not at all. A failed statement ends the transaction: everything is rolled
/// back, and later calls fail with [`StorageError::Closed`]. Dropping the future of a call does the same. A transaction
/// that is dropped without `commit` rolls back.
pub struct Transaction {
    database: Arc<DatabaseInner>,
    scope: Scope,
    engine: EngineTransaction,
    /// Statements of the gateway that have not run yet and without whose rows nothing takes effect.
    preconditions: Mutex<Vec<CommitStatement>>,
    /// Index of the precondition that returned no row.
    failed_precondition: OnceLock<usize>,
    deferred: Mutex<DeferredStatements>,
    has_conflict: AtomicBool,
    has_written: AtomicBool,
    has_other_owners: AtomicBool,
}

enum EngineTransaction {
    Sqlite(SqliteTransaction),
    Postgres(PostgresTransaction),
    #[cfg(feature = "simulation")]
    Simulated(crate::simulation::SimulatedTransaction),
}

/// Statements that run before the next call's statements and whose outcomes are not returned.
#[derive(Default)]
struct DeferredStatements {
    statements: Vec<CheckedStatement>,
    param_bytes: usize,
    /// Index of the last one in the scope of the transaction.
    last_in_scope: Option<usize>,
}

impl DeferredStatements {
    fn push(&mut self, statement: CheckedStatement) -> Result<(), StorageError> {
        if self.statements.len() >= CALL_STATEMENTS_MAX {
            let text = format!("{CALL_STATEMENTS_MAX} statements are deferred already: wait for one of them");
            return Err(StorageError::statement(text));
        }
        self.add_param_bytes(&statement)?;
        self.statements.push(statement);
        Ok(())
    }

    /// Adds the statements of a call to those that were deferred.
    fn extend(&mut self, statements: Vec<CheckedStatement>) -> Result<(), StorageError> {
        let count = self.statements.len() + statements.len();
        if count > CALL_STATEMENTS_MAX {
            return Err(StorageError::statement(format!(
                "a call has {count} statements, at most {CALL_STATEMENTS_MAX}"
            )));
        }
        statements.iter().try_for_each(|statement| self.add_param_bytes(statement))?;
        self.statements.extend(statements);
        Ok(())
    }

    fn add_param_bytes(&mut self, statement: &CheckedStatement) -> Result<(), StorageError> {
        self.param_bytes += statement.param_bytes();
        check_param_bytes(self.param_bytes)
    }
}

impl Transaction {
    pub(crate) fn new(database: Arc<DatabaseInner>, scope: Scope) -> Self {
        let engine = match &database.engine {
            Engine::Sqlite(sqlite) => EngineTransaction::Sqlite(sqlite.begin(&scope)),
            Engine::Postgres(postgres) => {
                EngineTransaction::Postgres(PostgresTransaction::new(Arc::clone(postgres), &scope))
            }
            #[cfg(feature = "simulation")]
            Engine::Simulated(simulated) => EngineTransaction::Simulated(crate::simulation::SimulatedTransaction::new(
                Arc::clone(simulated),
                &scope,
            )),
        };
        Self {
            database,
            scope,
            engine,
            preconditions: Mutex::default(),
            failed_precondition: OnceLock::new(),
            deferred: Mutex::default(),
            has_conflict: AtomicBool::new(false),
            has_written: AtomicBool::new(false),
            has_other_owners: AtomicBool::new(false),
        }
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether it has run a statement or has one deferred. If not, there is nothing to commit.
    pub fn has_begun(&self) -> bool {
        !self.deferred.lock().statements.is_empty()
            || match &self.engine {
                EngineTransaction::Sqlite(transaction) => transaction.has_begun(),
                EngineTransaction::Postgres(transaction) => transaction.has_begun(),
                #[cfg(feature = "simulation")]
                EngineTransaction::Simulated(transaction) => transaction.has_begun(),
            }
    }

    /// Whether the database refused it because of another transaction: everything is rolled back, and the same statements may
    /// succeed in a new one.
    pub fn has_conflict(&self) -> bool {
        self.has_conflict.load(Relaxed)
    }

    /// Whether a statement in its own scope may have changed rows.
    pub fn has_written(&self) -> bool {
        self.has_written.load(Relaxed)
    }

    /// Whether statements ran in another scope than its own: it may have changed rows of that plugin.
    pub fn has_other_owners(&self) -> bool {
        self.has_other_owners.load(Relaxed)
    }

    /// Whether the connection failed while the commit was on its way: it may have taken effect.
    pub fn has_unknown_outcome(&self) -> bool {
        match &self.engine {
            EngineTransaction::Sqlite(_) => false,
            EngineTransaction::Postgres(transaction) => transaction.has_unknown_outcome(),
            #[cfg(feature = "simulation")]
            EngineTransaction::Simulated(transaction) => transaction.has_unknown_outcome(),
        }
    }

    /// Adds the gateway's own statements that say whether the transaction may take effect: when one that must return a row
    /// returns none, the call that ran it fails with [`StorageError::Rejected`] and everything is rolled back. On PostgreSQL
    /// they run first, on their way with BEGIN. On SQLite, where nobody saves a way and a transaction that has begun keeps
    /// others waiting, they run with the commit. A transaction that has nothing else to do still runs them when it commits.
    pub fn require(&self, statements: Vec<CommitStatement>) {
        self.preconditions.lock().extend(statements);
    }

    /// Which of the preconditions returned no row.
    pub fn failed_precondition(&self) -> Option<usize> {
        self.failed_precondition.get().copied()
    }

    /// Adds a statement that runs before the next call's statements, in the scope of the transaction.
    pub fn defer(&self, statement: Statement) -> Result<(), StorageError> {
        let mut deferred = self.deferred.lock();
        let last = deferred.last_in_scope.and_then(|index| deferred.statements.get(index));
        let checked = match last.filter(|last| last.sql() == statement.sql.as_str()) {
            Some(last) => last.rebind(statement).inspect_err(|_| self.end("a statement failed"))?,
            None => self.check(&self.scope, statement)?,
        };
        deferred.push(checked)?;
        deferred.last_in_scope = Some(deferred.statements.len() - 1);
        Ok(())
    }

    /// Like [`Self::defer`], for the gateway's own statements in the transaction of a plugin.
    pub fn defer_as_host(&self, statement: Statement) -> Result<(), StorageError> {
        let checked = self.check(&Scope::Host, statement)?;
        self.deferred.lock().push(checked)
    }

    /// How many statements are deferred.
    pub fn deferred_count(&self) -> usize {
        self.deferred.lock().statements.len()
    }

    /// Runs the deferred statements, then these in order, in the scope of the transaction.
    pub async fn run(&self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, StorageError> {
        self.run_in(&self.scope, statements).await
    }

    /// Like [`Self::run`], for the gateway's own statements in the transaction of a plugin.
    pub async fn run_as_host(&self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, StorageError> {
        self.run_in(&Scope::Host, statements).await
    }

    /// Like [`Self::run`], for another plugin that takes part in the transaction, in its scope.
    pub async fn run_for(
        &self,
        scope: &Scope,
        statements: Vec<Statement>,
    ) -> Result<Vec<StatementResult>, StorageError> {
        self.add_other_owner();
        self.run_in(scope, statements).await
    }

    /// Like [`Self::defer`], for another plugin that takes part in the transaction, in its scope.
    pub fn defer_for(&self, scope: &Scope, statement: Statement) -> Result<(), StorageError> {
        self.add_other_owner();
        let checked = self.check(scope, statement)?;
        self.deferred.lock().push(checked)
    }

    fn add_other_owner(&self) {
        self.has_other_owners.store(true, Relaxed);
        if let EngineTransaction::Sqlite(transaction) = &self.engine {
            transaction.add_other_owner();
        }
    }

    async fn run_in(&self, scope: &Scope, statements: Vec<Statement>) -> Result<Vec<StatementResult>, StorageError> {
        let check = |statement| self.check(scope, statement);
        let checked: Vec<CheckedStatement> = statements.into_iter().map(check).collect::<Result<_, _>>()?;
        let mut deferred = std::mem::take(&mut *self.deferred.lock());
        let deferred_count = deferred.statements.len();
        deferred.extend(checked).inspect_err(|_| self.end("a statement failed"))?;
        let all = deferred.statements;
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let _timer = self.scope.time_write();
        let span = self.scope.span("database statements", self.database.dialect);
        let (result, counts) = match &self.engine {
            EngineTransaction::Sqlite(transaction) => (transaction.run(all).await, [0, deferred_count]),
            EngineTransaction::Postgres(transaction) => {
                let (statements, precondition_count) = self.after_preconditions(all)?;
                (Box::pin(transaction.run(&statements)).await, [precondition_count, deferred_count])
            }
            #[cfg(feature = "simulation")]
            EngineTransaction::Simulated(transaction) => {
                let (statements, precondition_count) = self.after_preconditions(all)?;
                (transaction.run(&statements).await, [precondition_count, deferred_count])
            }
        };
        let result = self.note_rejection(result, counts);
        Scope::end_span(span, &result);
        self.record(result).map(|mut outcomes| outcomes.split_off(counts.iter().sum()))
    }

    /// Runs the gateway's own last statements and commits, in one call to the database. Returns when the commit is
    /// durable. When the connection fails during the commit itself, the error is `Unavailable` and the outcome is
    /// unknown: see [`Self::has_unknown_outcome`].
    pub async fn commit(&self, statements: Vec<CommitStatement>) -> Result<Vec<StatementResult>, StorageError> {
        let has_preconditions = !self.preconditions.lock().is_empty();
        if statements.is_empty() && !has_preconditions && !self.has_begun() {
            self.end("it was committed");
            return Ok(Vec::new());
        }
        let checked = self.check_commit(statements)?;
        let span = self.scope.span("database commit", self.database.dialect);
        let (result, counts) = match &self.engine {
            EngineTransaction::Sqlite(transaction) => {
                // In a call before, because `Rejected` names a commit statement by its index.
                Box::pin(self.run(Vec::new())).await?;
                let mut statements = self.take_preconditions()?;
                let precondition_count = statements.len();
                statements.extend(checked);
                let _timer = self.scope.time_write();
                (transaction.commit(statements).await, [precondition_count, 0])
            }
            EngineTransaction::Postgres(transaction) => {
                let (statements, counts) = self.take_all(checked)?;
                let _timer = self.scope.time_write();
                (Box::pin(transaction.commit(&statements)).await, counts)
            }
            #[cfg(feature = "simulation")]
            EngineTransaction::Simulated(transaction) => {
                let (statements, counts) = self.take_all(checked)?;
                let _timer = self.scope.time_write();
                (transaction.commit(&statements).await, counts)
            }
        };
        let result = self.note_rejection(result, counts);
        Scope::end_span(span, &result);
        self.note_failure(&result);
        self.database.record_commit(result).map(|mut outcomes| outcomes.split_off(counts.iter().sum()))
    }

    /// What was put off, before these; and how many of each kind were: preconditions, and deferred statements.
    fn take_all(
        &self,
        last: Vec<CommitStatement<CheckedStatement>>,
    ) -> Result<(Vec<CommitStatement<CheckedStatement>>, [usize; 2]), StorageError> {
        let deferred = std::mem::take(&mut *self.deferred.lock()).statements;
        let deferred_count = deferred.len();
        let (mut statements, precondition_count) = self.after_preconditions(deferred)?;
        statements.extend(last);
        Ok((statements, [precondition_count, deferred_count]))
    }

    /// The preconditions, then these; and how many preconditions there were.
    fn after_preconditions(
        &self,
        statements: Vec<CheckedStatement>,
    ) -> Result<(Vec<CommitStatement<CheckedStatement>>, usize), StorageError> {
        let mut all = self.take_preconditions()?;
        let precondition_count = all.len();
        all.extend(statements.into_iter().map(without_condition));
        Ok((all, precondition_count))
    }

    fn take_preconditions(&self) -> Result<Vec<CommitStatement<CheckedStatement>>, StorageError> {
        let statements = std::mem::take(&mut *self.preconditions.lock());
        self.check_commit(statements)
    }

    /// The index of a rejected statement among those of its own kind: a precondition, or one of the commit.
    fn note_rejection<T>(
        &self,
        result: Result<T, StorageError>,
        [precondition_count, deferred_count]: [usize; 2],
    ) -> Result<T, StorageError> {
        result.map_err(|error| match error {
            StorageError::Rejected(index) if index < precondition_count => {
                let _ = self.failed_precondition.set(index);
                error
            }
            StorageError::Rejected(index) => StorageError::Rejected(index - precondition_count - deferred_count),
            other => other,
        })
    }

    fn record<T>(&self, result: Result<T, StorageError>) -> Result<T, StorageError> {
        self.note_failure(&result);
        self.database.record_write(result)
    }

    fn note_failure<T>(&self, result: &Result<T, StorageError>) {
        let Err(error) = result else { return };
        if let StorageError::Conflict(_) = error {
            self.has_conflict.store(true, Relaxed);
        }
        slow_statement::log_wait(self.scope.plugin_name(), error);
    }

    /// Rolls back; returns when that is done.
    pub async fn rollback(&self) {
        *self.deferred.lock() = DeferredStatements::default();
        let _span = self.scope.span("database rollback", self.database.dialect);
        match &self.engine {
            EngineTransaction::Sqlite(transaction) => transaction.rollback().await,
            EngineTransaction::Postgres(transaction) => Box::pin(transaction.rollback()).await,
            #[cfg(feature = "simulation")]
            EngineTransaction::Simulated(transaction) => transaction.rollback().await,
        }
    }

    fn check_commit(
        &self,
        statements: Vec<CommitStatement>,
    ) -> Result<Vec<CommitStatement<CheckedStatement>>, StorageError> {
        let check = |commit: CommitStatement| {
            let statement = self.check(&Scope::Host, commit.statement)?;
            Ok(CommitStatement { statement, refusal: commit.refusal })
        };
        statements.into_iter().map(check).collect()
    }

    fn check(&self, scope: &Scope, statement: Statement) -> Result<CheckedStatement, StorageError> {
        let checker = &self.database.checker;
        let checked = checker.check(scope, statement, AccessMode::ReadWrite);
        let checked = checked.inspect_err(|_| self.end("a statement failed"))?;
        if matches!(scope, Scope::Plugin { .. }) && !checked.info.kind.reads_only() {
            self.has_written.store(true, Relaxed);
        }
        Ok(checked)
    }

    /// Ends it without waiting; `reason` is what later calls fail with.
    fn end(&self, reason: &'static str) {
        match &self.engine {
            EngineTransaction::Sqlite(transaction) => transaction.end(reason),
            EngineTransaction::Postgres(transaction) => transaction.end(reason),
            #[cfg(feature = "simulation")]
            EngineTransaction::Simulated(transaction) => transaction.end(reason),
        }
    }
}

fn without_condition(statement: CheckedStatement) -> CommitStatement<CheckedStatement> {
    CommitStatement { statement, refusal: CommitRefusal::Never }
}
