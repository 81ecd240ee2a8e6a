//! Runs statements on a connection and flattens their rows.

use super::{
    connection::Guarded,
    explain::explain,
    watch::{Bounds, Cancelled},
};
use crate::StorageError;
use crate::check::{Admitted, Plan, Verb};
use crate::limits::Room;
use plugin_api::abi::{Cell, Outcome, Rows, RowsBuilder, Value};
use rusqlite::{CachedStatement, Statement, types::ValueRef};
use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

/// The statements of one call.
pub struct Call<'c> {
    guarded: &'c Guarded,
    cancelled: &'c Cancelled,
    room: Room,
    /// The last one: thousands of one text may follow each other.
    compiled: Option<(Arc<Plan>, CachedStatement<'c>)>,
}

impl<'c> Call<'c> {
    pub fn new(guarded: &'c Guarded, cancelled: &'c Cancelled) -> Self {
        Self { guarded, cancelled, room: Room::new(), compiled: None }
    }

    pub fn execute(&mut self, admitted: &Admitted, deadline: Instant) -> Result<Outcome, StorageError> {
        let Guarded { connection, watch } = self.guarded;
        let bounds = Bounds { deadline, cancelled: None };
        let _bound = watch.bound(bounds.clone());
        let compiled = match self.compiled.take() {
            Some(compiled) if Arc::ptr_eq(&compiled.0, &admitted.plan) => compiled,
            _ => (admitted.plan.clone(), connection.prepare_cached(admitted.sql()).map_err(|e| explain(&e))?),
        };
        let (plan, statement) = self.compiled.insert(compiled);
        if statement.readonly() {
            // Stopping a write would make SQLite roll back the whole group, so only the time limit may do that.
            let cancelled = Some(self.cancelled.clone());
            watch.change(Bounds { cancelled, ..bounds });
        }
        bind(statement, admitted)?;
        let rows = collect(statement, &plan.rows_bytes, &mut self.room)?;
        let changes = match plan.shape.verb {
            Verb::Change => connection.changes(),
            Verb::Read | Verb::Other => 0,
        };
        Ok(Outcome { rows, changes })
    }
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
