//! Runs one statement on a connection and flattens its rows.

use super::{
    connection::Guarded,
    explain::explain,
    watch::{Bounds, Cancelled},
};
use crate::storage::{
    StorageError,
    check::{Admitted, Verb},
    limits::Room,
};
use plugin_api::abi::{Cell, Outcome, Rows, RowsBuilder, Value};
use rusqlite::{Statement, types::ValueRef};
use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

pub fn execute(
    guarded: &Guarded,
    admitted: &Admitted,
    deadline: Instant,
    cancelled: &Cancelled,
    room: &mut Room,
) -> Result<Outcome, StorageError> {
    let connection = &guarded.connection;
    let bounds = Bounds { deadline, cancelled: None };
    let _bound = guarded.watch.bound(bounds.clone());
    let mut statement = connection.prepare_cached(admitted.sql()).map_err(|e| explain(&e))?;
    if statement.readonly() {
        // Stopping a write would make SQLite roll back the whole group, so only the time limit may do that.
        let cancelled = Some(cancelled.clone());
        guarded.watch.change(Bounds { cancelled, ..bounds });
    }
    bind(&mut statement, admitted)?;
    let rows = collect(&mut statement, &admitted.plan.rows_bytes, room)?;
    let changes = match admitted.plan.shape.verb {
        Verb::Change => connection.changes(),
        Verb::Read | Verb::Other => 0,
    };
    Ok(Outcome { rows, changes })
}

/// SQLite numbers `$7` by its first occurrence, not by the seven.
fn bind(statement: &mut Statement<'_>, admitted: &Admitted) -> Result<(), StorageError> {
    for (index, number) in (1_usize..).zip(&admitted.plan.shape.order) {
        let param = admitted.statement.params.get(usize::from(*number) - 1);
        let bound = match param {
            None | Some(Value::Null) => statement.raw_bind_parameter(index, rusqlite::types::Null),
            Some(Value::Int(value)) => statement.raw_bind_parameter(index, value),
            Some(Value::Real(value)) => statement.raw_bind_parameter(index, value),
            Some(Value::Text(value)) => statement.raw_bind_parameter(index, value.as_str()),
            Some(Value::Blob(value)) => statement.raw_bind_parameter(index, value.as_slice()),
        };
        bound.map_err(|e| explain(&e))?;
    }
    Ok(())
}

/// Room for the usual result, at least and at most.
const ROWS_BYTES: RangeInclusive<usize> = 512..=256 * 1024;

fn collect(statement: &mut Statement<'_>, usual: &AtomicUsize, room: &mut Room) -> Result<Rows, StorageError> {
    let usual_bytes = usual.load(Relaxed).clamp(*ROWS_BYTES.start(), *ROWS_BYTES.end());
    let mut builder = None;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(|e| explain(&e))? {
        // Asked for after the first step: a change of the schema may have re-prepared the statement.
        let columns = row.as_ref().column_count();
        let builder =
            builder.get_or_insert_with(|| RowsBuilder::with_room(row.as_ref().column_names().into_iter(), usual_bytes));
        for index in 0..columns {
            put(builder, row.get_ref(index).map_err(|e| explain(&e))?);
        }
        builder.end_row();
        room.check(builder.byte_count())?;
    }
    drop(rows);
    let builder = match builder {
        Some(builder) => builder,
        None if statement.column_count() == 0 => return Ok(Rows::default()),
        None => RowsBuilder::new(statement.column_names().into_iter()),
    };
    room.take(builder.byte_count());
    usual.store(builder.byte_count(), Relaxed);
    Ok(builder.finish())
}

fn put(builder: &mut RowsBuilder, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => builder.cell(Cell::Null),
        ValueRef::Integer(value) => builder.cell(Cell::Int(value)),
        ValueRef::Real(value) => builder.cell(Cell::Real(value)),
        // SQLite keeps any bytes as text; a broken character must not hide the row.
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => builder.cell(Cell::Text(text)),
            Err(_broken) => builder.cell(Cell::Text(&String::from_utf8_lossy(bytes))),
        },
        ValueRef::Blob(bytes) => builder.cell(Cell::Blob(bytes)),
    }
}
