//! A transaction on PostgreSQL.
//!
//! The rule: a plugin's transactions may run again, so they are SERIALIZABLE and take no lock. Those of a plugin that declares
//! `own_transactions` run one after the other, at READ COMMITTED, by a lock that is held until the commit. Either way "read,
//! decide, write" means the same as with SQLite's one writer, across replicas too. (REPEATABLE READ under the lock would not
//! work: its snapshot would be older than the lock.) The gateway's own transactions take no lock; each of their statements is
//! atomic.
//!
//! BEGIN travels with the first statements, and COMMIT with the last: see [`super::pipeline`].

use super::{
    engine::PostgresEngine,
    error::{ExecuteError, no_answer, read_only_error},
    pipeline::{Pipeline, PipelineError},
    pipeline_step::{Begin, PipelineStep},
    pooled_connection::PooledConnection,
    query::{PlanFor, Query},
    session::{PREPARED_STATEMENTS_MAX, Session},
    session_settings::TransactionMode,
};
use crate::{
    check::{CheckedStatement, Verb},
    commit_statement::CommitStatement,
    error::StorageError,
    scope::{Isolation, Scope},
    statements::result_budget::ResultBudget,
};
use plugin_api::abi::StatementResult;
use sha2::{Digest, Sha256};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::{sync::Mutex, time::timeout};

type Statements<'s> = &'s [CommitStatement<CheckedStatement>];

pub(crate) struct PostgresTransaction {
    engine: Arc<PostgresEngine>,
    mode: TransactionMode,
    time_limit: Duration,
    phase: Mutex<Phase>,
    has_begun: AtomicBool,
    /// COMMIT was sent, and the server has not answered it.
    is_commit_open: AtomicBool,
    /// Set when it was ended while a call may have been running.
    end_reason: OnceLock<&'static str>,
}

enum Phase {
    NotBegun,
    Active {
        open: Box<OpenTransaction>,
        /// When the last call ended.
        idle_since: Instant,
    },
    Ended(&'static str),
}

struct OpenTransaction {
    connection: PooledConnection,
    /// BEGIN was answered.
    has_begun: bool,
    deadline: Instant,
}

/// Why a call failed, and what is left of the transaction.
struct Failure {
    error: StorageError,
    is_connection_usable: bool,
    must_roll_back: bool,
}

impl PostgresTransaction {
    pub(crate) fn new(engine: Arc<PostgresEngine>, scope: &Scope) -> Self {
        let mode = match scope {
            Scope::Host => TransactionMode::ReadCommitted,
            Scope::Plugin { isolation: Isolation::Serializable, .. } => TransactionMode::Serializable,
            Scope::Plugin { name, isolation: Isolation::PluginLock, .. } => TransactionMode::Locked(lock_key(name)),
        };
        Self {
            time_limit: engine.transaction_timeout * scope.time_factor(),
            engine,
            mode,
            phase: Mutex::new(Phase::NotBegun),
            has_begun: AtomicBool::new(false),
            is_commit_open: AtomicBool::new(false),
            end_reason: OnceLock::new(),
        }
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Relaxed)
    }

    /// Whether the connection failed while COMMIT may have been on its way.
    pub(crate) fn has_unknown_outcome(&self) -> bool {
        self.is_commit_open.load(Relaxed)
    }

    /// Runs statements in order. [`StorageError::Rejected`] names one that had to return a row.
    pub(crate) async fn run(&self, statements: Statements<'_>) -> Result<Vec<StatementResult>, StorageError> {
        let mut phase = self.phase.lock().await;
        let mut open = self.take_open(&mut phase, "a statement failed").await?;
        match self.run_all(&mut open, statements, None).await {
            Ok(outcomes) => {
                *phase = Phase::Active { open, idle_since: Instant::now() };
                Ok(outcomes)
            }
            Err(failure) => Err(self.roll_back_after(open, failure).await),
        }
    }

    /// As [`Self::run`], and commits.
    pub(crate) async fn commit(&self, statements: Statements<'_>) -> Result<Vec<StatementResult>, StorageError> {
        let mut phase = self.phase.lock().await;
        let mut open = self.take_open(&mut phase, "its commit failed").await?;
        match self.run_all(&mut open, statements, Some("COMMIT")).await {
            Ok(outcomes) => {
                open.connection.return_to_pool();
                *phase = Phase::Ended("it was committed");
                Ok(outcomes)
            }
            Err(failure) => Err(self.roll_back_after(open, failure).await),
        }
    }

    pub(crate) async fn rollback(&self) {
        let mut phase = self.phase.lock().await;
        let reason = match &*phase {
            Phase::Ended(reason) => *reason,
            Phase::NotBegun | Phase::Active { .. } => "it was rolled back",
        };
        if let Phase::Active { open, .. } = std::mem::replace(&mut *phase, Phase::Ended(reason)) {
            self.roll_back(open.connection).await;
        }
    }

    /// Ends it without waiting: at once, or when the running call has ended.
    pub(crate) fn end(&self, reason: &'static str) {
        let _ = self.end_reason.set(reason);
        if let Ok(mut phase) = self.phase.try_lock()
            && matches!(*phase, Phase::NotBegun | Phase::Active { .. })
        {
            *phase = Phase::Ended(reason);
        }
    }

    /// Takes the connection out of the phase. A future that is dropped from here on closes the connection, and the
    /// transaction has ended with `reason_if_dropped`.
    async fn take_open(
        &self,
        phase: &mut Phase,
        reason_if_dropped: &'static str,
    ) -> Result<Box<OpenTransaction>, StorageError> {
        if let (Some(reason), Phase::NotBegun | Phase::Active { .. }) = (self.end_reason.get(), &*phase) {
            *phase = Phase::Ended(reason);
        }
        match std::mem::replace(phase, Phase::Ended(reason_if_dropped)) {
            Phase::Ended(reason) => {
                *phase = Phase::Ended(reason);
                Err(StorageError::ended(reason))
            }
            Phase::Active { open, idle_since } => match self.engine.exceeded_limit(open.deadline, idle_since) {
                None => Ok(open),
                // Dropping the connection rolls back; the server may have done so already.
                Some(reason) => {
                    *phase = Phase::Ended(reason);
                    Err(StorageError::ended(reason))
                }
            },
            Phase::NotBegun => {
                self.has_begun.store(true, Relaxed);
                let connection = self.engine.acquire_for_transaction().await?;
                let deadline = Instant::now() + self.time_limit;
                Ok(Box::new(OpenTransaction { connection, has_begun: false, deadline }))
            }
        }
    }

    async fn run_all(
        &self,
        open: &mut OpenTransaction,
        statements: Statements<'_>,
        end: Option<&'static str>,
    ) -> Result<Vec<StatementResult>, Failure> {
        let mut budget = ResultBudget::new();
        let mut outcomes = Vec::with_capacity(statements.len());
        let parts = parts(statements);
        for (index, part) in parts.iter().enumerate() {
            let end = end.filter(|_| index + 1 == parts.len());
            let ran = self.run_part(open, part, end, &mut budget);
            let ran = self.engine.reachability.while_reachable(ran).await;
            let ran = ran.unwrap_or_else(|error| Err(Failure::of_connection(error)));
            match ran {
                Ok(more) => outcomes.extend(more),
                Err(mut failure) => {
                    if let StorageError::Rejected(index) = &mut failure.error {
                        *index += outcomes.len();
                    }
                    return Err(failure);
                }
            }
        }
        Ok(outcomes)
    }

    /// Runs a few statements in one round trip, after another one if some are not prepared yet.
    async fn run_part(
        &self,
        open: &mut OpenTransaction,
        statements: Statements<'_>,
        end: Option<&'static str>,
        budget: &mut ResultBudget,
    ) -> Result<Vec<StatementResult>, Failure> {
        let queries: Vec<Query<'_>> = statements.iter().map(Query::of_commit).collect();
        let fail = |step, error, has_ended| self.failure(&queries, step, error, has_ended);
        let session = open.connection.get().map_err(Failure::of_connection)?;
        let plan_for =
            if self.mode == TransactionMode::Serializable { PlanFor::Serializable } else { PlanFor::Anything };
        let answer_limit = self.engine.wait_timeout();
        let begin = (!open.has_begun).then(|| self.engine.pool.session_settings.begin(self.mode, session.state));
        let waits = matches!(self.mode, TransactionMode::Locked(_));
        let begin = begin.as_deref().map(|statements| Begin { statements, waits });
        let forms = timeout(answer_limit, session.prepare(&queries, plan_for, begin, end)).await;
        let forms = forms.map_err(|_elapsed| Failure::of_connection(no_answer()))?;
        let forms = forms.map_err(|(step, error)| fail(step, error, !open.has_begun))?;
        let slow_statements = self.engine.pool.slow_statements;
        let mut pipeline = Pipeline { begin, queries: &queries, forms: &forms, end, answer_limit, slow_statements };
        // A session that may write on its own must have begun before it gets the statements, or they would take effect alone
        // after a BEGIN that failed.
        if begin.is_some() && !session.state.has_startup_options {
            self.run_pipeline(session, &Pipeline { queries: &[], end: None, ..pipeline }, budget)
                .await
                .map_err(|failed| fail(failed.step, failed.error, failed.has_ended))?;
            pipeline.begin = None;
        }
        let outcomes = self
            .run_pipeline(session, &pipeline, budget)
            .await
            .map_err(|failed| fail(failed.step, failed.error, failed.has_ended))?;
        open.has_begun = true;
        Ok(outcomes)
    }

    async fn run_pipeline(
        &self,
        session: &mut Session,
        pipeline: &Pipeline<'_>,
        budget: &mut ResultBudget,
    ) -> Result<Vec<StatementResult>, PipelineError> {
        if pipeline.end.is_none() {
            return session.run(pipeline, budget).await;
        }
        self.is_commit_open.store(true, Relaxed);
        let result = session.run(pipeline, budget).await;
        let is_known = match &result {
            Ok(_) => true,
            // An error of a connection that goes on is the server's own word.
            Err(failed) => failed.error.is_connection_usable,
        };
        self.is_commit_open.store(!is_known, Relaxed);
        result
    }

    fn failure(&self, queries: &[Query<'_>], step: PipelineStep, error: ExecuteError, has_ended: bool) -> Failure {
        let ExecuteError { is_connection_usable, is_division_by_zero, is_unsupported, .. } = error;
        let error = match step {
            // READ WRITE is more than a read replica offers.
            PipelineStep::Begin if is_unsupported => read_only_error(),
            PipelineStep::Begin => self.engine.lock_wait_error(error.error),
            PipelineStep::End => error.error,
            PipelineStep::Query(index) => match queries.get(index) {
                Some(query) if query.may_refuse && is_division_by_zero => StorageError::Rejected(index),
                Some(query) => self.engine.statement_error(query.statement, error.error),
                None => error.error,
            },
        };
        Failure { error, is_connection_usable, must_roll_back: !has_ended }
    }

    /// Rolls back before the error is returned, so that the caller finds the old state.
    async fn roll_back_after(&self, open: Box<OpenTransaction>, failure: Failure) -> StorageError {
        if failure.is_connection_usable && failure.must_roll_back {
            self.roll_back(open.connection).await;
        } else if failure.is_connection_usable {
            open.connection.return_to_pool();
        } else {
            self.engine.report_failure();
        }
        failure.error
    }

    /// If this fails, the connection is closed, which rolls back too.
    async fn roll_back(&self, mut connection: PooledConnection) {
        let Ok(session) = connection.get() else { return };
        let rolled_back = timeout(self.engine.wait_timeout(), session.batch("ROLLBACK"));
        let rolled_back = self.engine.reachability.while_reachable(rolled_back).await;
        if matches!(rolled_back, Ok(Ok(Ok(())))) {
            connection.return_to_pool();
        }
    }
}

impl Failure {
    fn of_connection(error: StorageError) -> Self {
        Self { error, is_connection_usable: false, must_roll_back: false }
    }
}

/// What is sent together. A statement that defines something ends its part, because later ones may need it when they are
/// prepared.
fn parts(statements: Statements<'_>) -> Vec<Statements<'_>> {
    let defines = |commit: &CommitStatement<CheckedStatement>| commit.statement.info.kind.verb == Verb::Other;
    let parts = statements.split_inclusive(defines);
    let mut parts: Vec<_> = parts.flat_map(|part| part.chunks(PREPARED_STATEMENTS_MAX.get())).collect();
    if parts.is_empty() {
        parts.push(&[]);
    }
    parts
}

fn lock_key(plugin: &str) -> i64 {
    let digest = Sha256::digest(format!("gateway plugin {plugin}"));
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(bytes)
}
