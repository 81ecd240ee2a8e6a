//! A checked statement, and what is known about its text.

use super::{statement_kind::StatementKind, table_references::TableReferences};
use crate::{
    caching::read_tracking,
    error::StorageError,
    scope::{Scope, owns_table},
    statements::{bounds::CALL_PARAM_BYTES_MAX, slow_lines::SlowLines, statement_latency::StatementLatency},
};
use plugin_api::abi::{Statement, Value};
use std::sync::{Arc, OnceLock, atomic::AtomicUsize};

/// What is known about one text; all statements with that text share it.
#[derive(Debug)]
pub(crate) struct StatementInfo {
    pub kind: StatementKind,
    pub latency: StatementLatency,
    pub slow_lines: SlowLines,
    /// Size of the last result.
    pub last_result_bytes: AtomicUsize,
    /// Set when a plugin first uses the text: the gateway's own statements are not parsed.
    pub(super) tables: OnceLock<Result<TableReferences, String>>,
}

impl StatementInfo {
    pub(super) fn new(kind: StatementKind) -> Self {
        Self {
            kind,
            latency: StatementLatency::default(),
            slow_lines: SlowLines::default(),
            last_result_bytes: AtomicUsize::default(),
            tables: OnceLock::new(),
        }
    }
}

/// A statement that has passed the check and may run.
#[derive(Debug)]
pub struct CheckedStatement {
    pub(crate) info: Arc<StatementInfo>,
    pub(crate) statement: Statement,
    /// Whose it is; `None` for the gateway's own.
    pub(crate) plugin: Option<Arc<str>>,
}

impl CheckedStatement {
    pub(super) fn new(
        info: Arc<StatementInfo>,
        statement: Statement,
        plugin: Option<Arc<str>>,
    ) -> Result<Self, StorageError> {
        check_params(&info.kind, &statement.params).map_err(StorageError::statement)?;
        let checked = Self { info, statement, plugin };
        check_param_bytes(checked.param_bytes())?;
        Ok(checked)
    }

    pub(crate) fn sql(&self) -> &str {
        &self.statement.sql
    }

    pub(crate) fn param_bytes(&self) -> usize {
        let bytes = |param: &Value| match param {
            Value::Text(text) => text.len(),
            Value::Blob(blob) => blob.len(),
            Value::Null | Value::Int(_) | Value::Real(_) => 0,
        };
        self.statement.params.iter().map(bytes).sum()
    }

    /// Checks a statement with the same text, in the same scope, and other parameters.
    pub(crate) fn rebind(&self, statement: Statement) -> Result<Self, StorageError> {
        Self::new(self.info.clone(), statement, self.plugin.clone())
    }

    /// Records which tables this read depends on, for the response that is being built.
    pub(crate) fn record_dependencies(&self, scope: &Scope) {
        match (scope, self.info.tables.get()) {
            (Scope::Plugin { name, .. }, Some(Ok(tables))) if !tables.is_volatile => {
                read_tracking::record_foreign_tables(tables.reads.iter().filter(|table| !owns_table(name, table)));
            }
            _ => read_tracking::mark_uncacheable(),
        }
    }
}

/// Of one statement, or of all statements of a call.
pub(crate) fn check_param_bytes(bytes: usize) -> Result<(), StorageError> {
    if bytes <= CALL_PARAM_BYTES_MAX {
        return Ok(());
    }
    Err(StorageError::statement(format!("the parameters of a call have {bytes} bytes, at most {CALL_PARAM_BYTES_MAX}")))
}

fn check_params(kind: &StatementKind, params: &[Value]) -> Result<(), String> {
    if kind.placeholder_order.len() != params.len() {
        return Err(format!(
            "the statement has {} placeholders, {} parameters were given",
            kind.placeholder_order.len(),
            params.len()
        ));
    }
    for (index, param) in params.iter().enumerate() {
        let problem = match param {
            // PostgreSQL has no NUL in texts, SQLite turns NaN into NULL.
            Value::Text(text) if text.as_bytes().contains(&0) => "holds a NUL character",
            Value::Real(number) if number.is_nan() => "is not a number",
            _ => continue,
        };
        return Err(format!("parameter ${} {problem}", index + 1));
    }
    Ok(())
}
