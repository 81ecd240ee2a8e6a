//! Executes one checked statement on a connection and encodes its rows.

use super::{bind, decode::decode, error::ExecuteError};
use crate::{
    check::{CheckedStatement, Verb},
    error::StorageError,
    result_budget::ResultBudget,
};
use futures_util::TryStreamExt;
use plugin_api::abi::{Cell, Rows, RowsBuilder, StatementResult};
use sqlx::{
    AssertSqlSafe, Column, Either, Executor, PgConnection, Row, SqlSafeStr, Statement, TypeInfo, ValueRef,
    postgres::{PgRow, PgValueFormat},
};

pub async fn execute(
    connection: &mut PgConnection,
    statement: &CheckedStatement,
    budget: &mut ResultBudget,
) -> Result<StatementResult, ExecuteError> {
    // The text was checked: it is one statement, and the parameters are sent separately.
    let text = AssertSqlSafe(bind::text_with_types(statement)).into_sql_str();
    let arguments = bind::arguments(statement)?;
    let mut builder = None;
    let mut affected = 0;
    let mut results = connection.fetch_many(sqlx::query_with(text.clone(), arguments));
    while let Some(result) = results.try_next().await? {
        match result {
            Either::Left(summary) => affected += summary.rows_affected(),
            Either::Right(row) => {
                let builder = builder.get_or_insert_with(|| RowsBuilder::new(column_names(row.columns())));
                append_row(builder, &row)?;
                budget.check(builder.byte_count())?;
            }
        }
    }
    drop(results);
    let rows = match builder {
        Some(builder) => {
            budget.consume(builder.byte_count());
            builder.finish()
        }
        None => {
            // The driver has it prepared already: this needs no further round trip.
            let prepared = connection.prepare_with(text, &bind::parameter_types(statement)).await?;
            match prepared.columns() {
                [] => Rows::default(),
                columns => RowsBuilder::new(column_names(columns)).finish(),
            }
        }
    };
    let changes = match statement.info.kind.verb {
        Verb::Change => affected,
        // For a SELECT the server counts the returned rows.
        Verb::Read | Verb::Other => 0,
    };
    Ok(StatementResult { rows, changes })
}

fn column_names<C: Column>(columns: &[C]) -> impl ExactSizeIterator<Item = &str> {
    columns.iter().map(Column::name)
}

fn append_row(builder: &mut RowsBuilder, row: &PgRow) -> Result<(), ExecuteError> {
    for (index, column) in row.columns().iter().enumerate() {
        let value = row.try_get_raw(index)?;
        if value.is_null() {
            builder.cell(Cell::Null);
            continue;
        }
        let decode_error = |reason: String| StorageError::statement(format!("the column {} {reason}", column.name()));
        let is_binary = value.format() == PgValueFormat::Binary;
        let bytes = value.as_bytes().map_err(|error| decode_error(error.to_string()))?;
        let oid = column.type_info().oid().filter(|_| is_binary).map_or(0, |oid| oid.0);
        let cell = decode(oid, column.type_info().name(), bytes);
        builder.cell(cell.map_err(|error| decode_error(error.to_string()))?);
    }
    builder.end_row();
    Ok(())
}
