//! Statements that take long at the database: a log line, and a counter by plugin.
//!
//! The rule that must not break: **a value that was bound appears nowhere.** The text is code of the gateway or a plugin.

use crate::{check::CheckedStatement, error::sanitize_line, settings::DatabaseSettings, versions::HOST_OWNER};
use gateway_telemetry::{Work, current_work};
use plugin_api::abi::StatementResult;
use std::time::{Duration, Instant};

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
            record_slow(&[statement], elapsed, result.map(std::slice::from_ref));
        }
    }

    /// As [`Self::record`], of a run that [`Self::may_record_together`] counts.
    pub fn record_alone(self, statement: &CheckedStatement, elapsed: Duration, result: Option<&StatementResult>) {
        if let Some(limit) = self.limit {
            statement.info.quick_runs.record(elapsed < limit / 2);
            self.record(statement, elapsed, result);
        }
    }

    /// Whether it need not be known which of these takes how long: none of them has been slow.
    pub fn may_record_together<'s>(self, mut statements: impl Iterator<Item = &'s CheckedStatement>) -> bool {
        self.limit.is_none() || statements.all(|statement| statement.info.quick_runs.are_enough())
    }

    /// Of statements that were answered together. When they were slow, each is timed alone for a while.
    pub fn record_together(
        self,
        statements: &[&CheckedStatement],
        elapsed: Duration,
        results: Option<&[StatementResult]>,
    ) {
        if self.limit.is_some_and(|limit| elapsed >= limit) {
            statements.iter().for_each(|statement| statement.info.quick_runs.record(false));
            record_slow(statements, elapsed, results);
        }
    }
}

#[cold]
fn record_slow(statements: &[&CheckedStatement], elapsed: Duration, results: Option<&[StatementResult]>) {
    let plugin = statements.iter().find_map(|statement| statement.plugin.as_deref());
    let label = plugin.unwrap_or(HOST_OWNER).to_owned();
    metrics::counter!("gateway_database_slow_statements_total", "plugin" => label).increment(1);
    let (Some(results), Some(first)) = (results, statements.first()) else { return };
    let Some(left_out) = first.info.slow_lines.admit(Instant::now()) else { return };
    let (request_id, operation, job) = match current_work() {
        Some(Work::Request { id, operation }) => (Some(id), Some(operation), None),
        Some(Work::Job { name }) => (None, None, Some(name)),
        None => (None, None, None),
    };
    let texts: Vec<&str> = statements.iter().map(|statement| statement.sql()).collect();
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
