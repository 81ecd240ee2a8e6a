//! Statements that take long at the database: a log line, and a counter by plugin.
//!
//! One statement has one line: that it was slow, that it was stopped, or that its call waited for too long.
//!
//! The rule that must not break: **a value that was bound appears nowhere.** The text is code of the gateway or a plugin.

use crate::{check::CheckedStatement, error::StorageError, settings::DatabaseSettings, versions::HOST_OWNER};
use gateway_telemetry::{Work, current_work};
use plugin_api::{abi::StatementResult, host::sanitize_line};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const TEXT_CHARS_MAX: usize = 500;

/// What counts as slow.
#[derive(Clone, Copy, Debug)]
pub struct SlowStatementLog {
    /// `None`: nothing does.
    limit: Option<Duration>,
}

impl SlowStatementLog {
    pub fn new(settings: &DatabaseSettings) -> Self {
        let limit = Duration::from_millis(settings.slow_statement_ms);
        Self { limit: (!limit.is_zero()).then_some(limit) }
    }

    /// Of one run of a statement. `None`: it failed; one that was stopped has a line of its own already.
    pub fn record(self, statement: &CheckedStatement, elapsed: Duration, result: Option<&StatementResult>) {
        if self.limit.is_some_and(|limit| elapsed >= limit) {
            record_slow(statement, elapsed, result);
        }
    }
}

#[cold]
fn record_slow(statement: &CheckedStatement, elapsed: Duration, result: Option<&StatementResult>) {
    let plugin = statement.plugin.as_deref();
    let label = plugin.unwrap_or(HOST_OWNER).to_owned();
    metrics::counter!("gateway_database_slow_statements_total", "plugin" => label).increment(1);
    let Some(result) = result else { return };
    let Some(left_out) = statement.info.slow_lines.admit(Instant::now()) else { return };
    let WorkFields { request_id, operation, job } = WorkFields::current();
    tracing::warn!(
        plugin,
        operation = operation.as_deref(),
        job = job.as_deref(),
        request_id = request_id.as_deref(),
        duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        rows = result.rows.row_count(),
        changes = result.changes,
        left_out,
        sql = sanitize_line(statement.sql(), TEXT_CHARS_MAX),
        "a statement was slow"
    );
}

/// The error of a statement that was stopped after this limit, and the one line about it.
pub fn stopped(statement: &CheckedStatement, limit: Duration) -> StorageError {
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
pub fn log_wait(plugin: Option<&str>, error: &StorageError) {
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
        match current_work() {
            Some(Work::Request { id, operation }) => {
                Self { request_id: Some(id), operation: Some(operation), job: None }
            }
            Some(Work::Job { name }) => Self { job: Some(name), ..Self::default() },
            None => Self::default(),
        }
    }
}
