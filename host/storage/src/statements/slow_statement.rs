//! Statements that take long at the database: a log line, and a counter by plugin.
//!
//! One statement has one line: that it was slow, that it was stopped, or that its call waited for too long.
//!
//! The rule that must not break: **a value that was bound appears nowhere.** The text is code of the gateway or a plugin.

use crate::{check::CheckedStatement, error::StorageError, scope::HOST_OWNER, settings::DatabaseSettings};
use gateway_telemetry::{LogContext, current_log_context};
use plugin_api::{abi::StatementResult, host::sanitize_line};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const TEXT_CHARS_MAX: usize = 500;

/// What counts as slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowStatementLog {
    /// `None`: nothing does.
    limit: Option<Duration>,
}

impl SlowStatementLog {
    pub(crate) fn new(settings: &DatabaseSettings) -> Self {
        let limit = Duration::from_millis(settings.slow_statement_ms);
        Self { limit: (!limit.is_zero()).then_some(limit) }
    }

    /// Of one run of a statement. `None`: it failed; one that was stopped has a line of its own already.
    pub(crate) fn record(self, statement: &CheckedStatement, elapsed: Duration, result: Option<&StatementResult>) {
        if self.limit.is_some_and(|limit| elapsed >= limit) {
            record_slow(&[statement], None, elapsed, result.map(std::slice::from_ref));
        }
    }

    /// As [`Self::record`], of a run that [`Self::may_record_together`] counts.
    pub(crate) fn record_alone(
        self,
        statement: &CheckedStatement,
        elapsed: Duration,
        result: Option<&StatementResult>,
    ) {
        if let Some(limit) = self.limit {
            statement.info.latency.record_strictly(elapsed < limit / 2);
            self.record(statement, elapsed, result);
        }
    }

    /// Whether it need not be known which of these takes how long: each has been timed alone often enough, and was never near the limit.
    pub(crate) fn may_record_together<'s>(self, mut statements: impl Iterator<Item = &'s CheckedStatement>) -> bool {
        self.limit.is_none() || statements.all(|statement| statement.info.latency.is_fast())
    }

    /// Of statements that were answered together, with the end of their transaction if that came with them. When they were slow, each is
    /// timed alone for a while.
    pub(crate) fn record_together(
        self,
        statements: &[&CheckedStatement],
        end: Option<&'static str>,
        elapsed: Duration,
        results: Option<&[StatementResult]>,
    ) {
        if self.limit.is_some_and(|limit| elapsed >= limit) {
            statements.iter().for_each(|statement| statement.info.latency.demote());
            record_slow(statements, end, elapsed, results);
        }
    }
}

#[cold]
fn record_slow(
    statements: &[&CheckedStatement],
    end: Option<&'static str>,
    elapsed: Duration,
    results: Option<&[StatementResult]>,
) {
    let plugin = statements.iter().find_map(|statement| statement.plugin.as_deref());
    let label = plugin.unwrap_or(HOST_OWNER).to_owned();
    metrics::counter!("gateway_database_slow_statements_total", "plugin" => label).increment(1);
    let (Some(results), Some(first)) = (results, statements.first()) else { return };
    let Some(left_out) = first.info.slow_lines.admit(Instant::now()) else { return };
    let WorkFields { request_id, operation, job } = WorkFields::current();
    let texts: Vec<&str> = statements.iter().map(|statement| statement.sql()).chain(end).collect();
    tracing::warn!(
        plugin,
        operation = operation.as_deref(),
        job = job.as_deref(),
        request_id = request_id.as_deref(),
        duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        rows = results.iter().map(|result| result.rows.row_count()).sum::<usize>(),
        changes = results.iter().map(|result| result.changes).sum::<u64>(),
        left_out,
        sql = sanitize_line(&texts.join("; "), TEXT_CHARS_MAX),
        "a statement was slow"
    );
}

/// The error of a statement that was stopped after this limit, and the one line about it.
pub(crate) fn stopped(statement: &CheckedStatement, limit: Duration) -> StorageError {
    let WorkFields { request_id, operation, job } = WorkFields::current();
    tracing::warn!(
        plugin = statement.plugin.as_deref(),
        operation = operation.as_deref(),
        job = job.as_deref(),
        request_id = request_id.as_deref(),
        ?limit,
        sql = sanitize_line(statement.sql(), TEXT_CHARS_MAX),
        "a statement was stopped: it ran for too long"
    );
    StorageError::SlowStatement(limit)
}

/// Logs whose call waited too long, or whose transaction had no time left; the plugin may do with the error what it likes. A statement
/// that was stopped has its line: [`stopped`].
pub(crate) fn log_wait(plugin: Option<&str>, error: &StorageError) {
    if let StorageError::Timeout(_) | StorageError::Busy(_) = error {
        let WorkFields { request_id, operation, job } = WorkFields::current();
        tracing::warn!(
            plugin,
            operation = operation.as_deref(),
            job = job.as_deref(),
            request_id = request_id.as_deref(),
            "{error}"
        );
    }
}

/// On whose behalf a statement runs.
#[derive(Default)]
struct WorkFields {
    request_id: Option<Arc<str>>,
    operation: Option<Arc<str>>,
    job: Option<Arc<str>>,
}

impl WorkFields {
    fn current() -> Self {
        match current_log_context() {
            Some(LogContext::Request { id, operation }) => {
                Self { request_id: Some(id), operation: Some(operation), job: None }
            }
            Some(LogContext::Job { name }) => Self { job: Some(name), ..Self::default() },
            None => Self::default(),
        }
    }
}
