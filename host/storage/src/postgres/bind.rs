//! Encodes parameters for PostgreSQL.
//!
//! The rule: the parameter types are part of a statement's text. The driver caches prepared statements by their text
//! alone, with the parameter types of the first call, so the same text with other types would send bytes in the wrong
//! format.

use crate::{check::CheckedStatement, error::StorageError};
use plugin_api::abi::Value;
use sqlx::{
    Arguments, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, types::Oid},
};

/// NULL without a type: the server infers the type from the statement.
struct UntypedNull;

const UNSPECIFIED: PgTypeInfo = PgTypeInfo::with_oid(Oid(0));

impl Type<Postgres> for UntypedNull {
    fn type_info() -> PgTypeInfo {
        UNSPECIFIED
    }
}

impl Encode<'_, Postgres> for UntypedNull {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}

/// The text that is prepared: a different text for each combination of parameter types.
pub fn text_with_types(statement: &CheckedStatement) -> String {
    let sql = statement.sql();
    let params = &statement.statement.params;
    if params.is_empty() {
        return sql.to_owned();
    }
    let mut text = String::with_capacity(sql.len() + params.len() + 3);
    text.push_str(sql);
    text.push_str("\n--");
    text.extend(params.iter().map(|param| match param {
        Value::Null => 'n',
        Value::Int(_) => 'i',
        Value::Real(_) => 'r',
        Value::Text(_) => 't',
        Value::Blob(_) => 'b',
    }));
    text
}

pub fn parameter_types(statement: &CheckedStatement) -> Vec<PgTypeInfo> {
    let type_of = |param: &Value| match param {
        Value::Null => UntypedNull::type_info(),
        Value::Int(_) => <i64 as Type<Postgres>>::type_info(),
        Value::Real(_) => <f64 as Type<Postgres>>::type_info(),
        Value::Text(_) => <str as Type<Postgres>>::type_info(),
        Value::Blob(_) => <[u8] as Type<Postgres>>::type_info(),
    };
    statement.statement.params.iter().map(type_of).collect()
}

pub fn arguments(statement: &CheckedStatement) -> Result<PgArguments, StorageError> {
    let mut arguments = PgArguments::default();
    for param in &statement.statement.params {
        let added = match param {
            Value::Null => arguments.add(UntypedNull),
            Value::Int(value) => arguments.add(value),
            Value::Real(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value.as_str()),
            Value::Blob(value) => arguments.add(value.as_slice()),
        };
        added.map_err(|error| StorageError::statement(error.to_string()))?;
    }
    Ok(arguments)
}
