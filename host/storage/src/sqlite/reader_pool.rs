//! The threads that read. Each statement reads one snapshot. Dropping the caller's future interrupts the statement, or
//! skips it while it waits.

use super::{
    connection::SqliteConnection,
    error::database_closed,
    interrupter::{CancelFlag, CancelOnDrop},
    statement_executor::StatementExecutor,
    work_queue::WorkQueue,
};
use crate::{
    check::CheckedStatement,
    error::StorageError,
    statements::slow_statement::{self, SlowStatementLog},
};
use gateway_telemetry::{LogContext, current_log_context, run_in_log_context};
use plugin_api::abi::Rows;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

struct ReadJob {
    statement: CheckedStatement,
    /// Later it is not begun.
    wait_until: Instant,
    time_limit: Duration,
    cancelled: CancelFlag,
    log_context: Option<LogContext>,
    reply: oneshot::Sender<Result<Rows, StorageError>>,
}

/// The queue of the reader threads.
pub(crate) struct ReaderPool {
    queue: Arc<WorkQueue<ReadJob>>,
    statement_timeout: Duration,
    slow_statements: SlowStatementLog,
}

impl ReaderPool {
    pub(crate) fn new(statement_timeout: Duration, slow_statements: SlowStatementLog) -> Self {
        Self { queue: Arc::new(WorkQueue::new()), statement_timeout, slow_statements }
    }

    /// The body of one thread.
    pub(crate) fn worker(&self, connection: SqliteConnection) -> impl FnOnce() + Send + 'static {
        let (queue, slow_statements) = (Arc::clone(&self.queue), self.slow_statements);
        move || {
            while let Some(mut job) = queue.pop() {
                run_in_log_context(job.log_context.take(), || run(&connection, job, slow_statements));
            }
        }
    }

    pub(crate) async fn read(&self, statement: CheckedStatement) -> Result<Rows, StorageError> {
        let (reply, response) = oneshot::channel();
        let cancelled = CancelFlag::default();
        let _guard = CancelOnDrop(cancelled.clone());
        let job = ReadJob {
            statement,
            wait_until: Instant::now() + self.statement_timeout,
            time_limit: self.statement_timeout,
            cancelled,
            log_context: current_log_context(),
            reply,
        };
        self.queue.push(job)?;
        response.await.unwrap_or_else(|_| Err(database_closed()))
    }

    pub(crate) fn close(&self) {
        self.queue.close();
    }
}

fn run(connection: &SqliteConnection, job: ReadJob, slow_statements: SlowStatementLog) {
    if job.reply.is_closed() {
        return;
    }
    let started = Instant::now();
    let result = if started >= job.wait_until {
        Err(StorageError::waited("all reader threads have been in use", job.time_limit))
    } else {
        let deadline = started + job.time_limit;
        let outcome = StatementExecutor::new(connection, &job.cancelled).execute(&job.statement, deadline);
        let elapsed = started.elapsed();
        job.statement.info.latency.record(elapsed);
        slow_statements.record(&job.statement, elapsed, outcome.as_ref().ok());
        outcome.map_err(|error| match error {
            StorageError::Timeout(_) => slow_statement::stopped(&job.statement, job.time_limit),
            other => other,
        })
    };
    // The reply fails only if the caller no longer waits for it.
    let _ = job.reply.send(result.map(|outcome| outcome.rows));
}
