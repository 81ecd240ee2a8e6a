//! A transaction on SQLite, as its caller uses it: runs fast calls on the calling thread and others on the writer
//! thread.
//!
//! The rule: a caller that receives an error finds the state from before the transaction, and a future that is dropped
//! during a call ends the transaction.

use super::{
    error::database_closed,
    group_commit::OpenGroup,
    interrupter::{CancelFlag, CancelOnDrop},
    transaction_call::{CallResult, PendingReply, TransactionCall},
    transaction_handle::TransactionHandle,
    write_scheduler::{LockGrant, WriteScheduler},
    writer_connection::WriterConnection,
};
use crate::{check::CheckedStatement, commit_statement::CommitStatement, error::StorageError};
use gateway_telemetry::current_log_context;
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};
use tokio::sync::oneshot;

/// A call with more statements runs on the writer thread, even if each of them is fast.
const INLINE_STATEMENTS_MAX: usize = 16;

pub(crate) struct SqliteTransaction {
    scheduler: Arc<WriteScheduler>,
    handle: Arc<TransactionHandle>,
    has_begun: AtomicBool,
    /// One call at a time.
    call_lock: tokio::sync::Mutex<()>,
    phase: Mutex<Phase>,
    /// Never set: a caller cannot cancel while its own thread runs the statements.
    never_cancelled: CancelFlag,
}

#[derive(Clone, Copy)]
enum Phase {
    /// The scheduler does not know it yet.
    NotBegun,
    /// It waits for the write lock or holds it, unless the writer thread has ended it.
    Active,
    Ended(&'static str),
}

impl SqliteTransaction {
    pub(crate) fn new(scheduler: Arc<WriteScheduler>, handle: Arc<TransactionHandle>) -> Self {
        Self {
            scheduler,
            handle,
            has_begun: AtomicBool::new(false),
            call_lock: tokio::sync::Mutex::const_new(()),
            phase: Mutex::new(Phase::NotBegun),
            never_cancelled: CancelFlag::default(),
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Relaxed)
    }

    /// It writes tables of another owner than its own, too.
    pub(crate) fn add_other_owner(&self) {
        self.handle.add_other_owner();
    }

    pub(crate) async fn run(&self, statements: Vec<CheckedStatement>) -> CallResult {
        let mut end_on_drop = EndOnDrop { transaction: Some(self) };
        let _call = self.call_lock.lock().await;
        let result = self.run_call(statements).await;
        end_on_drop.transaction = None;
        if result.is_err() {
            self.end("a statement failed");
        }
        result
    }

    async fn run_call(&self, statements: Vec<CheckedStatement>) -> CallResult {
        let deadline = self.begin_call().await?;
        if statements.len() <= INLINE_STATEMENTS_MAX && statements.iter().all(is_fast) {
            let run = |connection: &mut WriterConnection| connection.run(&statements, &self.never_cancelled);
            match self.run_inline(deadline, run) {
                Some(Ok(outcomes)) => {
                    self.scheduler.end_call(&self.handle);
                    return Ok(outcomes);
                }
                Some(Err(error)) => return Err(self.roll_back_after(error).await),
                None => {}
            }
        }
        self.run_on_writer(deadline, TransactionCall::Run(statements)).await
    }

    pub(crate) async fn commit(&self, statements: Vec<CommitStatement<CheckedStatement>>) -> CallResult {
        let mut end_on_drop = EndOnDrop { transaction: Some(self) };
        let _call = self.call_lock.lock().await;
        let result = self.commit_call(statements).await;
        end_on_drop.transaction = None;
        self.end(match &result {
            Ok(_) => "it was committed",
            Err(_) => "its commit failed",
        });
        result
    }

    async fn commit_call(&self, statements: Vec<CommitStatement<CheckedStatement>>) -> CallResult {
        let deadline = self.begin_call().await?;
        let is_inline =
            statements.len() <= INLINE_STATEMENTS_MAX && statements.iter().all(|commit| is_fast(&commit.statement));
        if !is_inline {
            return self.run_on_writer(deadline, TransactionCall::Commit(statements)).await;
        }
        let (reply, response) = oneshot::channel();
        let finish = |connection: &mut WriterConnection| {
            let owner = self.handle.written_revision();
            connection
                .finish_transaction(&statements, &self.never_cancelled, owner, reply)
                .map(|()| connection.group())
                .map_err(|(error, _)| error)
        };
        let group = match self.run_inline(deadline, finish) {
            Some(Ok(group)) => group,
            Some(Err(error)) => return Err(self.roll_back_after(error).await),
            None => return self.run_on_writer(deadline, TransactionCall::Commit(statements)).await,
        };
        if let Some(group) = self.scheduler.release_for_commit(&self.handle, group) {
            self.lead_group_commit(group).await;
        }
        response.await.unwrap_or_else(|_| Err(database_closed()))
    }

    /// Requests the commit of the group once no other task is ready to write: those that are ready share it.
    async fn lead_group_commit(&self, mut group: OpenGroup) {
        let _request = RequestCommitOnDrop { scheduler: &self.scheduler, group_number: group.number };
        loop {
            tokio::task::yield_now().await;
            match self.scheduler.grown_group(group) {
                Some(grown) => group = grown,
                None => return,
            }
        }
    }

    pub(crate) async fn rollback(&self) {
        let _call = self.call_lock.lock().await;
        if matches!(*self.phase.lock(), Phase::Active) {
            self.roll_back().await;
        }
        self.end("it was rolled back");
    }

    /// Ends it from the caller's side. What is not committed will be rolled back.
    pub(crate) fn end(&self, reason: &'static str) {
        let mut phase = self.phase.lock();
        match *phase {
            Phase::Ended(_) => return,
            Phase::Active => self.scheduler.abandon(&self.handle),
            Phase::NotBegun => {}
        }
        *phase = Phase::Ended(reason);
    }

    /// Acquires the write lock at the first call. Returns the deadline of the transaction.
    async fn begin_call(&self) -> Result<Instant, StorageError> {
        let acquired = {
            let mut phase = self.phase.lock();
            match *phase {
                Phase::Ended(reason) => return Err(StorageError::ended(reason)),
                Phase::Active => None,
                Phase::NotBegun => match self.scheduler.acquire(&self.handle) {
                    Ok(acquired) => {
                        *phase = Phase::Active;
                        self.has_begun.store(true, Relaxed);
                        Some(acquired)
                    }
                    Err(error) => {
                        *phase = Phase::Ended("it could not begin");
                        return Err(error.into());
                    }
                },
            }
        };
        if let Some(LockGrant::Later(receiver)) = acquired {
            receiver.await.unwrap_or_else(|_| Err(database_closed()))?;
        }
        self.scheduler.begin_call(&self.handle).ok_or_else(|| self.closed_error())
    }

    /// Runs `work` on the calling thread. `None` if another process has locked the database.
    fn run_inline<T>(&self, deadline: Instant, work: impl FnOnce(&mut WriterConnection) -> T) -> Option<T> {
        let _end_call = EndCallOnPanic(self);
        let mut connection = self.scheduler.connection();
        connection.begin_transaction(deadline, false).ok()?;
        Some(work(&mut connection))
    }

    async fn run_on_writer(&self, deadline: Instant, call: TransactionCall) -> CallResult {
        let (reply, response) = oneshot::channel();
        let cancelled = CancelFlag::default();
        let _cancel = CancelOnDrop(cancelled.clone());
        self.scheduler.call_on_writer(
            &self.handle,
            deadline,
            call,
            PendingReply { reply, cancelled, log_context: current_log_context() },
        );
        response.await.unwrap_or_else(|_| Err(self.closed_error()))
    }

    /// Rolls back before the error is returned, so that the caller finds the old state.
    async fn roll_back_after(&self, error: StorageError) -> StorageError {
        self.roll_back().await;
        error
    }

    async fn roll_back(&self) {
        let (done, rolled_back) = oneshot::channel();
        if self.scheduler.roll_back(&self.handle, Some(done)) {
            let _ = rolled_back.await;
        }
    }

    fn closed_error(&self) -> StorageError {
        StorageError::ended(self.handle.end_reason.get().copied().unwrap_or("it was rolled back"))
    }
}

impl Drop for SqliteTransaction {
    fn drop(&mut self) {
        self.end("it was dropped");
    }
}

fn is_fast(statement: &CheckedStatement) -> bool {
    statement.info.latency.is_fast()
}

/// Ends the transaction when the caller drops the future of a call.
struct EndOnDrop<'t> {
    transaction: Option<&'t SqliteTransaction>,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(transaction) = self.transaction {
            transaction.end("a call was given up");
        }
    }
}

/// Ends the call when it panics. Otherwise the transaction would hold the write lock forever and block all writes; so
/// it becomes idle and is rolled back.
struct EndCallOnPanic<'t>(&'t SqliteTransaction);

impl Drop for EndCallOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.scheduler.end_call(&self.0.handle);
        }
    }
}

/// Requests the commit also when the leader's future is dropped: other transactions wait for the same commit.
struct RequestCommitOnDrop<'s> {
    scheduler: &'s WriteScheduler,
    group_number: u64,
}

impl Drop for RequestCommitOnDrop<'_> {
    fn drop(&mut self) {
        self.scheduler.request_commit(self.group_number);
    }
}
