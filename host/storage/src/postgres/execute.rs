//! Runs one statement on a connection and flattens its rows.

use super::{bind, decode::decode, explain::Failure};
use crate::StorageError;
use crate::check::{Admitted, Verb};
use crate::limits::Room;
use futures_util::TryStreamExt;
use plugin_api::abi::{Cell, Outcome, Rows, RowsBuilder};
use sqlx::{
    AssertSqlSafe, Column, Either, Executor, PgConnection, Row, SqlSafeStr, Statement, TypeInfo, ValueRef,
    postgres::{PgRow, PgValueFormat},
};

pub async fn execute(connection: &mut PgConnection, admitted: &Admitted, room: &mut Room) -> Result<Outcome, Failure> {
    // The check has seen the text: it is one statement, and the parameters travel apart from it.
    let text = AssertSqlSafe(bind::typed_text(admitted)).into_sql_str();
    let arguments = bind::arguments(admitted)?;
    let mut builder = None;
    let mut affected = 0;
    let mut results = connection.fetch_many(sqlx::query_with(text.clone(), arguments));
    while let Some(result) = results.try_next().await? {
        match result {
            Either::Left(summary) => affected += summary.rows_affected(),
            Either::Right(row) => {
                let builder = builder.get_or_insert_with(|| RowsBuilder::new(names(row.columns())));
                put(builder, &row)?;
                room.check(builder.byte_count())?;
            }
        }
    }
    drop(results);
    let rows = match builder {
        Some(builder) => {
            room.take(builder.byte_count());
            builder.finish()
        }
        None => {
            // Known since it was prepared: no further question to the server.
            let prepared = connection.prepare_with(text, &bind::types(admitted)).await?;
            match prepared.columns() {
                [] => Rows::default(),
                columns => RowsBuilder::new(names(columns)).finish(),
            }
        }
    };
    let changes = match admitted.plan.shape.verb {
        Verb::Change => affected,
        // The server counts the rows of a SELECT here.
        Verb::Read | Verb::Other => 0,
    };
    Ok(Outcome { rows, changes })
}

fn names<C: Column>(columns: &[C]) -> impl ExactSizeIterator<Item = &str> {
    columns.iter().map(Column::name)
}

fn put(builder: &mut RowsBuilder, row: &PgRow) -> Result<(), Failure> {
    for (index, column) in row.columns().iter().enumerate() {
        let value = row.try_get_raw(index)?;
        if value.is_null() {
            builder.cell(Cell::Null);
            continue;
        }
        let refuse = |reason: String| StorageError::statement(format!("the column {} {reason}", column.name()));
        let is_binary = value.format() == PgValueFormat::Binary;
        let bytes = value.as_bytes().map_err(|error| refuse(error.to_string()))?;
        let oid = column.type_info().oid().filter(|_| is_binary).map_or(0, |oid| oid.0);
        let cell = decode(oid, column.type_info().name(), bytes);
        builder.cell(cell.map_err(|error| refuse(error.to_string()))?);
    }
    builder.end_row();
    Ok(())
}
