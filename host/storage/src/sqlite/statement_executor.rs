//! Executes checked statements on a connection and encodes their rows.
//!
//! The rule: a cancelled caller interrupts only statements that read. An interrupted write would roll back the whole
//! group.

use super::{
    connection::SqliteConnection,
    error::storage_error,
    interrupter::{CancelFlag, StatementLimits},
};
use crate::{
    check::{CheckedStatement, StatementInfo, Verb},
    error::StorageError,
    statements::result_budget::ResultBudget,
};
use plugin_api::abi::{Cell, Rows, RowsBuilder, StatementResult, Value};
use rusqlite::{CachedStatement, Connection, Statement, types::ValueRef};
use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

/// Executes the statements of one call.
pub(crate) struct StatementExecutor<'c> {
    connection: &'c SqliteConnection,
    cancelled: &'c CancelFlag,
    budget: ResultBudget,
    /// The last statement: thousands with the same text may follow each other.
    prepared: Option<(Arc<StatementInfo>, CachedStatement<'c>)>,
}

impl<'c> StatementExecutor<'c> {
    pub(crate) fn new(connection: &'c SqliteConnection, cancelled: &'c CancelFlag) -> Self {
        Self { connection, cancelled, budget: ResultBudget::new(), prepared: None }
    }

    pub(crate) fn execute(
        &mut self,
        statement: &CheckedStatement,
        deadline: Instant,
    ) -> Result<StatementResult, StorageError> {
        let SqliteConnection { handle, interrupter } = self.connection;
        let limits = StatementLimits { deadline, cancelled: None };
        let _guard = interrupter.limit(limits.clone());
        let prepared = match self.prepared.take() {
            Some(prepared) if Arc::ptr_eq(&prepared.0, &statement.info) => prepared,
            _ => (statement.info.clone(), handle.prepare_cached(statement.sql()).map_err(|e| storage_error(&e))?),
        };
        let (info, prepared) = self.prepared.insert(prepared);
        if prepared.readonly() {
            let cancelled = Some(self.cancelled.clone());
            interrupter.set_limits(StatementLimits { cancelled, ..limits });
        }
        bind(prepared, statement)?;
        let rows = collect(prepared, &info.last_result_bytes, &mut self.budget)?;
        let changes = match info.kind.verb {
            Verb::Change => handle.changes(),
            Verb::Read | Verb::Other => 0,
        };
        Ok(StatementResult { rows, changes })
    }
}

/// Executes one statement outside of a call, to its end, without limits.
pub(crate) fn execute_unread(connection: &Connection, statement: &CheckedStatement) -> Result<(), StorageError> {
    let mut prepared = connection.prepare(statement.sql()).map_err(|e| storage_error(&e))?;
    bind(&mut prepared, statement)?;
    let mut rows = prepared.raw_query();
    while rows.next().map_err(|e| storage_error(&e))?.is_some() {}
    Ok(())
}

/// SQLite numbers `$7` by its first occurrence and not by the seven.
fn bind(prepared: &mut Statement<'_>, statement: &CheckedStatement) -> Result<(), StorageError> {
    for (index, number) in (1_usize..).zip(&statement.info.kind.placeholder_order) {
        let param = statement.statement.params.get(usize::from(*number) - 1);
        let bound = match param {
            None | Some(Value::Null) => prepared.raw_bind_parameter(index, rusqlite::types::Null),
            Some(Value::Int(value)) => prepared.raw_bind_parameter(index, value),
            Some(Value::Real(value)) => prepared.raw_bind_parameter(index, value),
            Some(Value::Text(value)) => prepared.raw_bind_parameter(index, value.as_str()),
            Some(Value::Blob(value)) => prepared.raw_bind_parameter(index, value.as_slice()),
        };
        bound.map_err(|e| storage_error(&e))?;
    }
    Ok(())
}

/// Smallest and largest initial capacity for a result.
const CAPACITY_BYTES: RangeInclusive<usize> = 512..=256 * 1024;

fn collect(
    prepared: &mut Statement<'_>,
    last_result_bytes: &AtomicUsize,
    budget: &mut ResultBudget,
) -> Result<Rows, StorageError> {
    let capacity = last_result_bytes.load(Relaxed).clamp(*CAPACITY_BYTES.start(), *CAPACITY_BYTES.end());
    let mut builder = None;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(|e| storage_error(&e))? {
        // Read after the first step: a schema change may have compiled the statement again.
        let columns = row.as_ref().column_count();
        let builder =
            builder.get_or_insert_with(|| RowsBuilder::with_room(row.as_ref().column_names().into_iter(), capacity));
        for index in 0..columns {
            append_cell(builder, row.get_ref(index).map_err(|e| storage_error(&e))?);
        }
        builder.end_row();
        budget.check(builder.byte_count())?;
    }
    drop(rows);
    let builder = match builder {
        Some(builder) => builder,
        None if prepared.column_count() == 0 => return Ok(Rows::default()),
        None => RowsBuilder::new(prepared.column_names().into_iter()),
    };
    budget.consume(builder.byte_count());
    last_result_bytes.store(builder.byte_count(), Relaxed);
    Ok(builder.finish())
}

fn append_cell(builder: &mut RowsBuilder, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => builder.cell(Cell::Null),
        ValueRef::Integer(value) => builder.cell(Cell::Int(value)),
        ValueRef::Real(value) => builder.cell(Cell::Real(value)),
        // SQLite stores any bytes as text; invalid UTF-8 must not hide the row.
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => builder.cell(Cell::Text(text)),
            Err(_invalid) => builder.cell(Cell::Text(&String::from_utf8_lossy(bytes))),
        },
        ValueRef::Blob(bytes) => builder.cell(Cell::Blob(bytes)),
    }
}
