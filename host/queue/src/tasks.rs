//! What plugins do to a queue: their writes add tasks and end one, and a handler renews its lease in a transaction of its own.

use gateway_storage::{Dialect, StorageError, decode_rows};
use plugin_api::{
    Sql,
    abi::{Statement, StatementResult},
    host::sanitize_line,
    manifest::{PushedTask, TaskLease, TaskOutcome},
    sql,
};
use std::collections::BTreeMap;

/// `due_ms` of a key for which there is nothing to do.
pub(crate) const NEVER_MS: i64 = i64::MAX;
const REASON_CHARS_MAX: usize = 500;
/// Rows of one statement. Few sizes, so that each of them is prepared once.
const CHUNK_ROWS: [usize; 4] = [256, 32, 4, 1];

/// How a task has ended, in the row of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutcomeCode {
    Done = 1,
    Retry = 2,
    Dead = 3,
    /// It did not begin.
    Released = 4,
}

/// Adds tasks. `now_ms` is the gateway's time. The results are for [`new_ids`].
pub fn push_statements(table: &str, tasks: &[PushedTask], now_ms: i64) -> Vec<Statement> {
    let row = |task: &PushedTask| {
        let unique = task.unique.clone();
        (task.key.clone(), task.group.clone(), task.payload.get().to_owned(), now_ms, start_ms(task, now_ms), unique)
    };
    let columns = "key, group_key, payload, pushed_ms, due_ms, unique_key";
    let mut statements = Vec::new();
    for chunk in chunks(tasks) {
        let insert = Sql::insert_rows(table, columns, chunk.iter().map(row));
        let new = insert.map(|insert| insert.push(" ON CONFLICT (unique_key) DO NOTHING RETURNING id"));
        statements.extend(new.map(Statement::from));
    }
    let mut keys: BTreeMap<&str, (&str, i64)> = BTreeMap::new();
    for task in tasks {
        let due_ms = task.due_ms.unwrap_or(now_ms);
        let key = keys.entry(&task.key).or_insert((&task.group, due_ms));
        *key = (&task.group, key.1.min(due_ms));
    }
    let keys: Vec<_> = keys.into_iter().map(|(key, (group, due_ms))| (key, group, due_ms)).collect();
    for chunk in chunks(&keys) {
        let insert = Sql::insert_rows(&format!("{table}_pushed"), "key, group_key, due_ms", chunk.iter().copied());
        statements.extend(insert.map(Statement::from));
    }
    statements
}

/// 0 for one that is due at once: see the tables.
fn start_ms(task: &PushedTask, now_ms: i64) -> i64 {
    task.due_ms.filter(|due_ms| *due_ms > now_ms).unwrap_or(0)
}

fn chunks<T>(mut rows: &[T]) -> Vec<&[T]> {
    let mut chunks = Vec::new();
    while let Some(size) = CHUNK_ROWS.into_iter().find(|size| *size <= rows.len()) {
        let (chunk, rest) = rows.split_at(size);
        chunks.push(chunk);
        rows = rest;
    }
    chunks
}

/// The ids of the tasks that the statements added.
pub fn new_ids(results: &[StatementResult]) -> Result<Vec<i64>, StorageError> {
    let mut ids = Vec::new();
    for result in results {
        ids.extend(decode_rows::<i64>(&result.rows)?);
    }
    Ok(ids)
}

pub(crate) fn malformed(error: impl std::fmt::Display) -> StorageError {
    StorageError::Internal(format!("a queue's tables have another shape: {error}"))
}

/// Ends a task, if the key still has the lease's token: [`is_lease_held`] tells.
pub fn end_statement(table: &str, lease: &TaskLease, outcome: &TaskOutcome) -> Statement {
    let (code, due_ms, is_slow, reason) = match outcome {
        TaskOutcome::Done { is_slow } => (OutcomeCode::Done, 0, *is_slow, ""),
        TaskOutcome::Retry { due_ms, reason } => (OutcomeCode::Retry, *due_ms, true, reason.as_str()),
        TaskOutcome::Dead { reason } => (OutcomeCode::Dead, 0, true, reason.as_str()),
    };
    outcome_code_statement(table, lease, code, (due_ms, is_slow, reason))
}

pub(crate) fn outcome_code_statement(
    table: &str,
    lease: &TaskLease,
    code: OutcomeCode,
    (due_ms, is_slow, reason): (i64, bool, &str),
) -> Statement {
    let update = format!(
        "UPDATE {table}_keys SET ended = $4, ended_due_ms = $5, ended_slow = $6, ended_error = $7 \
         WHERE key = $1 AND token = $2 AND task_id = $3 AND ended = 0"
    );
    sql(update)
        .bind((lease.key.as_str(), lease.token, lease.task, code as i64))
        .bind((due_ms, i64::from(is_slow), sanitize_line(reason, REASON_CHARS_MAX)))
        .into()
}

/// Whether the statement found the lease, so that its outcome or its renewal counts.
pub fn is_lease_held(results: &[StatementResult]) -> bool {
    results.iter().map(|result| result.changes).sum::<u64>() == 1
}

/// Extends a lease, if it is still there: [`is_lease_held`] tells.
pub fn renew_statement(table: &str, lease: &TaskLease, lease_ms: u64, dialect: Dialect) -> Statement {
    let update = format!(
        "UPDATE {table}_keys SET lease_until_ms = {} + $4 WHERE key = $1 AND token = $2 AND task_id = $3 AND ended = 0",
        dialect.now_ms()
    );
    let lease_ms = i64::try_from(lease_ms).unwrap_or(i64::MAX);
    sql(update).bind((lease.key.as_str(), lease.token, lease.task, lease_ms)).into()
}
