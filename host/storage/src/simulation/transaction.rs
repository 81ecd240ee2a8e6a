//! A transaction of a client of the simulated server.
//!
//! The rule: as with the real engine, a call that fails ends it, and a future that is dropped before its end rolls back; a COMMIT
//! that was applied before its future was dropped stays.

use super::{
    engine::SimulatedEngine,
    open_transaction::{IsolationLevel, TransactionId},
    server::{CommitFate, connection_lost},
    state::{StatementAttempt, conflict},
    store::StatementFailure,
};
use crate::{
    check::CheckedStatement,
    commit_statement::{CommitRefusal, CommitStatement},
    error::{IDLE_TOO_LONG, OPEN_TOO_LONG, StorageError},
    scope::{Isolation, Scope},
};
use parking_lot::Mutex;
use plugin_api::abi::StatementResult;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::{Instant, timeout};

/// Between two looks whether a late commit, or a time limit, has ended the transaction that is waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

type Statements<'s> = &'s [CommitStatement<CheckedStatement>];

pub(crate) struct SimulatedTransaction {
    engine: Arc<SimulatedEngine>,
    isolation: IsolationLevel,
    time_limit: Duration,
    /// The lock that its plugin's transactions take one after the other.
    plugin_lock: Option<String>,
    phase: Mutex<Phase>,
    /// One call at a time.
    call: tokio::sync::Mutex<()>,
    has_begun: AtomicBool,
    has_unknown_outcome: AtomicBool,
}

#[derive(Clone, Copy)]
enum Phase {
    NotBegun,
    Active(TransactionId),
    Ended(&'static str),
}

impl SimulatedTransaction {
    pub(crate) fn new(engine: Arc<SimulatedEngine>, scope: &Scope) -> Self {
        let (isolation, plugin_lock) = match scope {
            Scope::Host => (IsolationLevel::ReadCommitted, None),
            Scope::Plugin { isolation: Isolation::Serializable, .. } => (IsolationLevel::Serializable, None),
            Scope::Plugin { name, isolation: Isolation::PluginLock, .. } => {
                (IsolationLevel::ReadCommitted, Some(format!("plugin {name}")))
            }
        };
        Self {
            time_limit: engine.transaction_timeout * scope.time_factor(),
            engine,
            isolation,
            plugin_lock,
            phase: Mutex::new(Phase::NotBegun),
            call: tokio::sync::Mutex::const_new(()),
            has_begun: AtomicBool::new(false),
            has_unknown_outcome: AtomicBool::new(false),
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Relaxed)
    }

    /// Whether the connection failed while COMMIT may have been on its way.
    pub(crate) fn has_unknown_outcome(&self) -> bool {
        self.has_unknown_outcome.load(Relaxed)
    }

    pub(crate) async fn run(&self, statements: Statements<'_>) -> Result<Vec<StatementResult>, StorageError> {
        let _call = self.call.lock().await;
        let mut ending = EndOnDrop { transaction: Some(self), reason: "a statement failed" };
        let outcomes = self.run_all(statements).await?;
        self.engine.server.travel().await;
        if let Phase::Active(id) = *self.phase.lock()
            && let Some(open) = self.engine.server.state().open(id)
        {
            open.idle_since = Some(Instant::now());
        }
        ending.transaction = None;
        Ok(outcomes)
    }

    pub(crate) async fn commit(&self, statements: Statements<'_>) -> Result<Vec<StatementResult>, StorageError> {
        let _call = self.call.lock().await;
        let _ending = EndOnDrop { transaction: Some(self), reason: "its commit failed" };
        self.has_unknown_outcome.store(true, Relaxed);
        let outcomes = self.run_all(statements).await;
        // A failure that the server itself reports is known.
        let is_known = !matches!(outcomes, Err(StorageError::Unavailable(_)));
        self.has_unknown_outcome.store(!is_known, Relaxed);
        let outcomes = outcomes?;
        let Phase::Active(id) = *self.phase.lock() else { return Err(StorageError::ended("it was committed")) };
        self.commit_on_server(id)?;
        self.engine.server.travel().await;
        // Ends what the server forgot as well.
        self.end("it was committed");
        Ok(outcomes)
    }

    fn commit_on_server(&self, id: TransactionId) -> Result<(), StorageError> {
        let server = &self.engine.server;
        let fate = server.draw_commit_fate();
        match fate {
            CommitFate::Never | CommitFate::Forgotten => {}
            CommitFate::Late(wait) => server.commit_later(id, wait),
            CommitFate::Answered | CommitFate::AnswerLost => {
                let mut state = server.state();
                let committed = state.commit(id);
                state.note(&("commit", id, &committed));
                drop(state);
                server.changed.notify_waiters();
                committed?;
            }
        }
        if matches!(fate, CommitFate::Answered | CommitFate::Forgotten) {
            return Ok(());
        }
        self.has_unknown_outcome.store(true, Relaxed);
        if let CommitFate::Late(_) = fate {
            // It is the server's from here.
            *self.phase.lock() = Phase::Ended("its commit failed");
        }
        Err(connection_lost())
    }

    pub(crate) async fn rollback(&self) {
        let _call = self.call.lock().await;
        self.end("it was rolled back");
    }

    /// Ends it without waiting.
    pub(crate) fn end(&self, reason: &'static str) {
        let mut phase = self.phase.lock();
        let ended = match *phase {
            Phase::Ended(_) => return,
            Phase::Active(id) => Some(id),
            Phase::NotBegun => None,
        };
        *phase = Phase::Ended(reason);
        drop(phase);
        if let Some(id) = ended {
            self.engine.server.end(id);
        }
    }

    async fn run_all(&self, statements: Statements<'_>) -> Result<Vec<StatementResult>, StorageError> {
        if let Phase::Ended(reason) = *self.phase.lock() {
            return Err(StorageError::ended(reason));
        }
        self.has_begun.store(true, Relaxed);
        self.engine.reach().await?;
        let id = self.begin().await?;
        let mut outcomes = Vec::with_capacity(statements.len());
        for (index, statement) in statements.iter().enumerate() {
            outcomes.push(self.run_statement(id, index, statement).await?);
        }
        Ok(outcomes)
    }

    /// The server's transaction, which begins with the first call.
    async fn begin(&self) -> Result<TransactionId, StorageError> {
        let server = &self.engine.server;
        let now = Instant::now();
        let phase = *self.phase.lock();
        match phase {
            Phase::Ended(reason) => Err(StorageError::ended(reason)),
            Phase::Active(id) => {
                server.state().end_idle(now, self.engine.transaction_idle);
                let mut state = server.state();
                let open = state.open(id).ok_or(StorageError::Expired(IDLE_TOO_LONG))?;
                open.idle_since = None;
                if now.duration_since(open.begun_at) > self.time_limit {
                    return Err(StorageError::Expired(OPEN_TOO_LONG));
                }
                Ok(id)
            }
            Phase::NotBegun => {
                let id = server.state().begin(self.engine.client, self.isolation, now);
                *self.phase.lock() = Phase::Active(id);
                if let Some(lock) = &self.plugin_lock {
                    let waited = "another transaction of the plugin has been open";
                    self.wait(id, waited, || server.state().take_lock(id, lock).map_or(Ok(()), Err)).await?;
                }
                Ok(id)
            }
        }
    }

    async fn run_statement(
        &self,
        id: TransactionId,
        index: usize,
        CommitStatement { statement, refusal }: &CommitStatement<CheckedStatement>,
    ) -> Result<StatementResult, StorageError> {
        let server = &self.engine.server;
        let attempt = || {
            let request = match self.engine.request(statement) {
                Ok(request) => request,
                Err(error) => return Ok(Err(StatementFailure::Other(error))),
            };
            let now_ms = server.now_ms();
            match server.state().run(id, request, now_ms) {
                StatementAttempt::Blocked(holder) => Err(holder),
                StatementAttempt::Done(outcome) => Ok(Ok(outcome)),
                StatementAttempt::Failed(failure) => Ok(Err(failure)),
            }
        };
        let outcome = self.wait(id, "another transaction held a lock", attempt).await?;
        server.state().note(&(id, statement.sql(), &statement.statement.params, &outcome));
        match outcome {
            Ok(outcome) if *refusal == CommitRefusal::WithoutRow && outcome.rows.is_empty() => {
                Err(StorageError::Rejected(index))
            }
            Ok(outcome) => Ok(outcome.result()),
            Err(StatementFailure::DivisionByZero) if *refusal != CommitRefusal::Never => {
                Err(StorageError::Rejected(index))
            }
            Err(failure) => Err(failure.into_error()),
        }
    }

    /// Repeats what another transaction blocks, once that one is over.
    async fn wait<T>(
        &self,
        id: TransactionId,
        waited_for: &str,
        attempt: impl Fn() -> Result<T, TransactionId>,
    ) -> Result<T, StorageError> {
        let server = &self.engine.server;
        let deadline = Instant::now() + self.engine.statement_timeout;
        loop {
            let over = server.changed.notified();
            let holder = match attempt() {
                Ok(done) => {
                    if let Some(open) = server.state().open(id) {
                        open.waits_for = None;
                    }
                    return Ok(done);
                }
                Err(holder) => holder,
            };
            if !server.state().wait_for(id, holder) {
                return Err(conflict());
            }
            let _ = timeout(LOOK_INTERVAL, over).await;
            server.commit_what_was_late();
            let now = Instant::now();
            server.state().end_idle(now, self.engine.transaction_idle);
            if now >= deadline {
                return Err(StorageError::waited(waited_for, self.engine.statement_timeout));
            }
        }
    }
}

impl Drop for SimulatedTransaction {
    fn drop(&mut self) {
        self.end("it was dropped");
    }
}

/// Ends the transaction when its call fails, or its future is dropped.
struct EndOnDrop<'t> {
    transaction: Option<&'t SimulatedTransaction>,
    reason: &'static str,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(transaction) = self.transaction {
            transaction.end(self.reason);
        }
    }
}
