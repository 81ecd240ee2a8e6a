//! The connection that writes: the open group of transactions, and the savepoint of the active one.
//!
//! The rule: a transaction that ends early (a failed statement, a dropped future, a time limit) leaves no trace. If
//! SQLite rolled back more than that one by itself, all transactions of its group fail.

use super::{
    checkpoint::checkpoint_if_long,
    connection::{BUSY_TIMEOUT, SqliteConnection},
    error::{group_failed, storage_error},
    group_commit::{GroupCommitRequest, OpenGroup},
    interrupter::CancelFlag,
    statement_executor::StatementExecutor,
    transaction_call::CallResult,
};
use crate::{
    caching::revisions::{OwnerRevision, Revisions},
    check::CheckedStatement,
    commit_statement::{CommitRefusal, CommitStatement},
    error::StorageError,
    scope::HOST_OWNER,
    statements::slow_statement::{self, SlowStatementLog},
};
use plugin_api::abi::StatementResult;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// SQLite's own values are not negative.
const UNKNOWN_DATA_VERSION: i64 = -1;

/// Opens the connection again when its state can no longer be trusted.
pub(crate) type Reopen = Box<dyn Fn() -> Result<SqliteConnection, StorageError> + Send>;

pub(crate) struct WriterConnection {
    connection: SqliteConnection,
    revisions: Arc<Revisions>,
    /// Changes with each commit of another connection, as `PRAGMA data_version` last returned it.
    data_version: i64,
    statement_timeout: Duration,
    slow_statements: SlowStatementLog,
    reopen: Reopen,
    group: Option<Group>,
    group_count: u64,
    active: Option<ActiveTransaction>,
}

struct Group {
    info: OpenGroup,
    requests: Vec<GroupCommitRequest>,
}

/// The transaction that holds the write lock.
struct ActiveTransaction {
    /// The first transaction of a group needs no savepoint: to roll it back is to roll back the group. Without a
    /// savepoint SQLite keeps no second journal, in which every statement of a large transaction would search for the
    /// end of the earlier writes.
    has_savepoint: bool,
    deadline: Instant,
    has_written: bool,
}

/// Runs the statements of one call in the active transaction.
struct CallExecution<'w> {
    transaction: &'w mut ActiveTransaction,
    executor: StatementExecutor<'w>,
    statement_timeout: Duration,
    slow_statements: SlowStatementLog,
    /// When the previous statement ended.
    previous_end: Instant,
}

impl CallExecution<'_> {
    fn execute(&mut self, statement: &CheckedStatement) -> Result<StatementResult, StorageError> {
        self.transaction.has_written |= !statement.info.kind.reads_only();
        let deadline = self.transaction.deadline.min(self.previous_end + self.statement_timeout);
        let outcome =
            self.executor.execute(statement, deadline).map_err(|error| self.name_limit(error, statement, deadline));
        let now = Instant::now();
        let elapsed = now - self.previous_end;
        statement.info.latency.record(elapsed);
        self.slow_statements.record(statement, elapsed, outcome.as_ref().ok());
        self.previous_end = now;
        outcome
    }

    /// Says of a statement that was stopped which limit it exceeded.
    fn name_limit(&self, error: StorageError, statement: &CheckedStatement, deadline: Instant) -> StorageError {
        match error {
            StorageError::Timeout(_) if deadline == self.transaction.deadline => {
                StorageError::Timeout("its transaction had no time left".into())
            }
            StorageError::Timeout(_) => slow_statement::stopped(statement, self.statement_timeout),
            other => other,
        }
    }
}

impl WriterConnection {
    pub(crate) fn new(
        connection: SqliteConnection,
        revisions: Arc<Revisions>,
        statement_timeout: Duration,
        slow_statements: SlowStatementLog,
        reopen: Reopen,
    ) -> Self {
        let mut writer = Self {
            connection,
            revisions,
            data_version: UNKNOWN_DATA_VERSION,
            statement_timeout,
            slow_statements,
            reopen,
            group: None,
            group_count: 0,
            active: None,
        };
        // Reads the first data version, so that the existing data does not count as a foreign commit later.
        writer.check_foreign_commits();
        writer
    }

    pub(crate) fn group(&self) -> Option<OpenGroup> {
        self.group.as_ref().map(|group| group.info)
    }

    /// Begins the group and the transaction, unless they have begun. `may_wait`: whether to wait for the lock of
    /// another process.
    pub(crate) fn begin_transaction(&mut self, deadline: Instant, may_wait: bool) -> Result<(), StorageError> {
        if self.active.is_some() {
            return Ok(());
        }
        if self.group.is_none() {
            self.begin_group(may_wait)?;
        }
        let has_savepoint = self.group.as_ref().is_some_and(|group| !group.requests.is_empty());
        if has_savepoint {
            self.execute_cached("SAVEPOINT active_transaction").map_err(|_| group_failed())?;
        }
        self.active = Some(ActiveTransaction { has_savepoint, deadline, has_written: false });
        Ok(())
    }

    fn begin_group(&mut self, may_wait: bool) -> Result<(), StorageError> {
        self.check_foreign_commits();
        let begun = if may_wait { self.execute_cached("BEGIN IMMEDIATE") } else { self.begin_without_waiting() };
        begun.map_err(|error| storage_error(&error))?;
        self.group_count += 1;
        let info = OpenGroup { number: self.group_count, opened_at: Instant::now(), transaction_count: 0 };
        self.group = Some(Group { info, requests: Vec::new() });
        Ok(())
    }

    fn begin_without_waiting(&self) -> rusqlite::Result<()> {
        self.connection.handle.busy_timeout(Duration::ZERO)?;
        let begun = self.execute_cached("BEGIN IMMEDIATE");
        self.connection.handle.busy_timeout(BUSY_TIMEOUT)?;
        begun
    }

    /// Runs statements in the active transaction.
    pub(crate) fn run(&mut self, statements: &[CheckedStatement], cancelled: &CancelFlag) -> CallResult {
        let mut execution = self.execution(cancelled)?;
        statements.iter().map(|statement| execution.execute(statement)).collect()
    }

    fn execution<'w>(&'w mut self, cancelled: &'w CancelFlag) -> Result<CallExecution<'w>, StorageError> {
        let transaction = self.active.as_mut().ok_or_else(group_failed)?;
        let executor = StatementExecutor::new(&self.connection, cancelled);
        Ok(CallExecution {
            transaction,
            executor,
            statement_timeout: self.statement_timeout,
            slow_statements: self.slow_statements,
            previous_end: Instant::now(),
        })
    }

    /// Runs the commit statements and adds the transaction to those that wait for the commit of the group, unless its
    /// caller no longer waits.
    pub(crate) fn finish_transaction(
        &mut self,
        statements: &[CommitStatement<CheckedStatement>],
        cancelled: &CancelFlag,
        owner: Option<&OwnerRevision>,
        reply: oneshot::Sender<CallResult>,
    ) -> Result<(), (StorageError, oneshot::Sender<CallResult>)> {
        let outcomes = match self.run_commit_statements(statements, cancelled) {
            Ok(outcomes) if !reply.is_closed() => outcomes,
            Ok(_) => return Err((StorageError::ended("its caller left"), reply)),
            Err(error) => return Err((error, reply)),
        };
        let has_savepoint = self.active.as_ref().is_some_and(|transaction| transaction.has_savepoint);
        // After some errors SQLite has ended the transaction by itself.
        if self.connection.handle.is_autocommit()
            || has_savepoint && self.execute_cached("RELEASE active_transaction").is_err()
        {
            return Err((group_failed(), reply));
        }
        let has_written = self.active.take().is_some_and(|transaction| transaction.has_written);
        let written_owner = owner.filter(|_| has_written).cloned();
        let Some(group) = &mut self.group else { return Err((group_failed(), reply)) };
        group.info.transaction_count += 1;
        group.requests.push(GroupCommitRequest { reply, outcomes, written_owner });
        Ok(())
    }

    fn run_commit_statements(
        &mut self,
        statements: &[CommitStatement<CheckedStatement>],
        cancelled: &CancelFlag,
    ) -> CallResult {
        let mut execution = self.execution(cancelled)?;
        let run = |(index, commit): (usize, &CommitStatement<CheckedStatement>)| {
            let outcome = execution.execute(&commit.statement)?;
            if commit.refusal == CommitRefusal::WithoutRow && outcome.rows.is_empty() {
                return Err(StorageError::Rejected(index));
            }
            Ok(outcome)
        };
        statements.iter().enumerate().map(run).collect()
    }

    /// Rolls back the active transaction.
    pub(crate) fn roll_back_transaction(&mut self) {
        if self.active.take().is_some_and(|transaction| transaction.has_savepoint) {
            // After some errors (disk full, I/O, an interrupted write) SQLite has rolled back everything by itself.
            let handle = &self.connection.handle;
            let is_rolled_back = !handle.is_autocommit()
                && handle.execute_batch("ROLLBACK TO active_transaction; RELEASE active_transaction").is_ok();
            if !is_rolled_back {
                self.fail_group();
            }
        } else if self.group.is_some() && self.connection.handle.is_autocommit() {
            self.fail_group();
        }
        if let Some(group) = &mut self.group {
            group.info.transaction_count += 1;
        }
        if self.group.as_ref().is_some_and(|group| group.requests.is_empty()) {
            // There is nothing to commit.
            self.group = None;
        }
        if self.group.is_none() {
            self.ensure_idle();
        }
    }

    /// The connection for work outside any transaction, such as migrations.
    pub(crate) fn for_task(&self) -> &SqliteConnection {
        &self.connection
    }

    fn fail_group(&mut self) {
        if let Some(group) = self.group.take() {
            fail_all(group.requests);
        }
    }

    /// Commits the group and replies to the callers of its transactions.
    pub(crate) fn commit_group(&mut self) {
        let Some(Group { requests, .. }) = self.group.take() else { return };
        if requests.is_empty() {
            return self.ensure_idle();
        }
        // SQLite may have ended the transaction by itself. COMMIT would fail then too, but its error would not say why.
        if self.connection.handle.is_autocommit() {
            return fail_all(requests);
        }
        let in_progress = self.revisions.begin_commit(self.written_owners(&requests));
        let committed = self.execute_cached("COMMIT");
        drop(in_progress);
        match committed {
            Ok(()) => requests.into_iter().for_each(GroupCommitRequest::acknowledge),
            Err(error) => {
                let reason = storage_error(&error);
                tracing::error!(error = %error, members = requests.len(), "a group's commit failed");
                let reply = match reason {
                    StorageError::Unavailable(_) => reason,
                    _ => group_failed(),
                };
                self.roll_back();
                requests.into_iter().for_each(|request| request.fail(reply.clone()));
            }
        }
        self.ensure_idle();
        checkpoint_if_long(&self.connection.handle);
    }

    /// Always includes the gateway itself: each transaction may end with rows of the gateway's own.
    fn written_owners(&self, requests: &[GroupCommitRequest]) -> Vec<OwnerRevision> {
        let mut owners: Vec<OwnerRevision> = vec![self.revisions.of(HOST_OWNER)];
        for owner in requests.iter().filter_map(|request| request.written_owner.as_ref()) {
            if !owners.iter().any(|added| added.is_same_owner(owner)) {
                owners.push(owner.clone());
            }
        }
        owners
    }

    /// Advances the revision of everything after a commit of another process (a command, an operator's tool).
    pub(crate) fn check_foreign_commits(&mut self) {
        // If the read fails, the next group reads it again.
        if let Ok(data_version) = self.read_data_version()
            && data_version != self.data_version
        {
            self.data_version = data_version;
            drop(self.revisions.begin_commit(vec![self.revisions.everything()]));
        }
    }

    fn read_data_version(&self) -> rusqlite::Result<i64> {
        self.connection.handle.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
    }

    /// Executes one of the statements that every write needs; SQLite compiles it once.
    fn execute_cached(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.handle.prepare_cached(sql)?.execute([]).map(drop)
    }

    fn roll_back(&self) {
        if !self.connection.handle.is_autocommit() {
            let _ = self.connection.handle.execute_batch("ROLLBACK");
        }
    }

    /// Between groups there is no open transaction; a connection that cannot end one is replaced.
    pub(crate) fn ensure_idle(&mut self) {
        self.roll_back();
        if self.connection.handle.is_autocommit() {
            return;
        }
        match (self.reopen)() {
            // The data version belongs to the connection: `check_foreign_commits` has to read the new one.
            Ok(connection) => (self.connection, self.data_version) = (connection, UNKNOWN_DATA_VERSION),
            Err(error) => {
                tracing::error!(error = %error, "the writer cannot open the database again")
            }
        }
    }

    /// Lets SQLite update the planner's statistics, before the connection is closed.
    pub(crate) fn optimize(&self) -> rusqlite::Result<()> {
        self.connection.handle.execute_batch("PRAGMA optimize")
    }
}

fn fail_all(requests: Vec<GroupCommitRequest>) {
    if !requests.is_empty() {
        tracing::error!(members = requests.len(), "SQLite rolled back a group by itself");
    }
    requests.into_iter().for_each(|request| request.fail(group_failed()));
}
