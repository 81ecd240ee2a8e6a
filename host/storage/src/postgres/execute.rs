//! Reads the answer to a statement and encodes its rows.

use super::{decode::decode, error::ExecuteError, session::QueryForm};
use crate::{
    check::{CheckedStatement, Verb},
    error::StorageError,
    statements::result_budget::ResultBudget,
};
use futures_util::TryStreamExt as _;
use plugin_api::abi::{Cell, Rows, RowsBuilder, StatementResult};
use std::{error::Error, pin::pin};
use tokio_postgres::{
    Column, Row, RowStream,
    types::{FromSql, Type},
};

pub(crate) async fn read_result(
    stream: RowStream,
    statement: &CheckedStatement,
    form: &QueryForm,
    budget: &mut ResultBudget,
) -> Result<StatementResult, ExecuteError> {
    let mut stream = pin!(stream);
    let mut builder = None;
    while let Some(row) = stream.try_next().await? {
        let builder = builder.get_or_insert_with(|| RowsBuilder::new(column_names(row.columns())));
        append_row(builder, &row)?;
        budget.check(builder.byte_count())?;
    }
    let rows = match (builder, form) {
        (Some(builder), _) => {
            budget.consume(builder.byte_count());
            builder.finish()
        }
        (None, QueryForm::Prepared(prepared)) if !prepared.columns().is_empty() => {
            RowsBuilder::new(column_names(prepared.columns())).finish()
        }
        // The driver tells the columns of an unnamed statement with its rows only.
        (None, QueryForm::Prepared(_) | QueryForm::Unnamed) => Rows::default(),
    };
    let changes = match statement.info.kind.verb {
        Verb::Change => stream.rows_affected().unwrap_or(0),
        // For a SELECT the server counts the returned rows.
        Verb::Read | Verb::Other => 0,
    };
    Ok(StatementResult { rows, changes })
}

fn column_names(columns: &[Column]) -> impl ExactSizeIterator<Item = &str> {
    columns.iter().map(Column::name)
}

fn append_row(builder: &mut RowsBuilder, row: &Row) -> Result<(), ExecuteError> {
    for (index, column) in row.columns().iter().enumerate() {
        let Some(bytes) = row.try_get::<_, BinaryValue<'_>>(index)?.0 else {
            builder.cell(Cell::Null);
            continue;
        };
        let cell = decode(column.type_().oid(), column.type_().name(), bytes);
        let decode_error = |error| StorageError::statement(format!("the column {} {error}", column.name()));
        builder.cell(cell.map_err(decode_error)?);
    }
    builder.end_row();
    Ok(())
}

/// The bytes of a value of any type; the driver asks for the binary form of all of them.
struct BinaryValue<'b>(Option<&'b [u8]>);

impl<'b> FromSql<'b> for BinaryValue<'b> {
    fn from_sql(_: &Type, bytes: &'b [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Some(bytes)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
