//! Statements that take long at the database: a log line, and a counter by plugin.
//!
//! The rule that must not break: **a value that was bound appears nowhere.** The text is code of the gateway or a plugin.

use crate::{check::CheckedStatement, error::sanitize_line, scope::HOST_OWNER, settings::DatabaseSettings};
use gateway_telemetry::{LogContext, current_log_context};
use plugin_api::abi::StatementResult;
use std::time::{Duration, Instant};

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
    let (request_id, operation, job) = match current_log_context() {
        Some(LogContext::Request { id, operation }) => (Some(id), Some(operation), None),
        Some(LogContext::Job { name }) => (None, None, Some(name)),
        None => (None, None, None),
    };
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
