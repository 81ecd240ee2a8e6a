//! Fast reads, run on the calling thread: a hop to another thread and back costs more than most of them.
//!
//! The rule: a thread that serves requests is never blocked for long. Only statements whose last runs were fast run
//! here. One that takes longer than [`RUN_TIME_MAX`] this time is interrupted, and a reader thread runs it from the
//! start. The same happens to one that meets a lock or fails in any other way. Reading the schema may take longer, once
//! after each schema change.

use super::{connection::SqliteConnection, interrupter::CancelFlag, statement_executor::StatementExecutor};
use crate::{check::CheckedStatement, statements::slow_statement::SlowStatementLog};
use parking_lot::Mutex;
use plugin_api::abi::Rows;
use std::time::{Duration, Instant};

/// Checked every thousand instructions of SQLite's virtual machine.
const RUN_TIME_MAX: Duration = Duration::from_millis(1);

pub(crate) struct InlineReader {
    /// The idle connections; `None` when it is closed.
    idle: Mutex<Option<Vec<SqliteConnection>>>,
    /// Never set: a caller cannot cancel while its own thread runs the statement.
    never_cancelled: CancelFlag,
    slow_statements: SlowStatementLog,
}

impl InlineReader {
    pub(crate) fn new(connections: Vec<SqliteConnection>, slow_statements: SlowStatementLog) -> Self {
        Self { idle: Mutex::new(Some(connections)), never_cancelled: CancelFlag::default(), slow_statements }
    }

    /// The rows, or `None` if a reader thread must run the statement.
    pub(crate) fn read(&self, statement: &CheckedStatement) -> Option<Rows> {
        let latency = &statement.info.latency;
        if !latency.is_fast() {
            return None;
        }
        let connection = self.idle.lock().as_mut()?.pop()?;
        let started = Instant::now();
        let outcome =
            StatementExecutor::new(&connection, &self.never_cancelled).execute(statement, started + RUN_TIME_MAX);
        if let Ok(outcome) = &outcome {
            let elapsed = started.elapsed();
            latency.record(elapsed);
            self.slow_statements.record(statement, elapsed, Some(outcome));
        } else {
            latency.demote();
            // If the schema has changed, the next statement on this connection would be interrupted too.
            let _ = connection.read_schema();
        }
        if let Some(idle) = self.idle.lock().as_mut() {
            idle.push(connection);
        }
        outcome.ok().map(|outcome| outcome.rows)
    }

    /// Closes the idle connections; one that is in use closes when its statement ends.
    pub(crate) fn close(&self) {
        *self.idle.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection;
    use super::*;
    use crate::{
        check::{AccessMode, StatementChecker},
        dialect::Dialect,
        scope::Scope,
        settings::DatabaseSettings,
    };
    use plugin_api::sql;

    /// So many that reading the schema takes longer than a statement may.
    const TABLES: usize = 5000;
    const FAST_RUNS: usize = 20;

    fn fast_statement(text: &'static str) -> CheckedStatement {
        let checker = StatementChecker::new(Dialect::Sqlite);
        let statement = checker.check(&Scope::Host, sql(text).into(), AccessMode::ReadOnly).unwrap();
        (0..FAST_RUNS).for_each(|_| statement.info.latency.record(Duration::ZERO));
        statement
    }

    #[test]
    fn a_schema_that_takes_long_to_read_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.db");
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        let create = |number| format!("CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT);");
        let tables: String = (0..TABLES).map(create).collect();
        writer.execute_batch(&format!("BEGIN; {tables} COMMIT;")).unwrap();
        let log = SlowStatementLog::new(&DatabaseSettings::new(""));
        let reader = InlineReader::new(vec![connection::open_inline_reader(&path).unwrap()], log);
        for change in ["", "CREATE TABLE one_more (id INTEGER PRIMARY KEY)"] {
            writer.execute_batch(change).unwrap();
            // It may be interrupted; a reader thread would then run it.
            reader.read(&fast_statement("SELECT id FROM t1"));
            assert!(reader.read(&fast_statement("SELECT id FROM t2")).is_some(), "after {change:?}");
            assert!(reader.read(&fast_statement("SELECT id FROM t1")).is_some(), "after {change:?}");
        }
    }
}
