//! Encodes parameters for PostgreSQL.
//!
//! The rule: a parameter is sent in the binary form of its own type, so a prepared statement belongs to a text and the types
//! of its parameters.

use bytes::BytesMut;
use plugin_api::abi::Value;
use std::{error::Error, fmt};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// One parameter.
pub(crate) struct Param<'v>(pub &'v Value);

impl Param<'_> {
    pub(crate) fn type_of(value: &Value) -> Type {
        match value {
            // The server infers the type from the statement.
            Value::Null => Type::UNKNOWN,
            Value::Int(_) => Type::INT8,
            Value::Real(_) => Type::FLOAT8,
            Value::Text(_) => Type::TEXT,
            Value::Blob(_) => Type::BYTEA,
        }
    }
}

/// The driver logs parameters: what clients sent is in no log.
impl fmt::Debug for Param<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(Self::type_of(self.0).name())
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Value::Null => return Ok(IsNull::Yes),
            Value::Int(value) => out.extend_from_slice(&value.to_be_bytes()),
            Value::Real(value) => out.extend_from_slice(&value.to_be_bytes()),
            Value::Text(value) => out.extend_from_slice(value.as_bytes()),
            Value::Blob(value) => out.extend_from_slice(value),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A letter for each type, for the key of a prepared statement.
pub(crate) fn type_letters(params: &[Value]) -> impl Iterator<Item = char> {
    params.iter().map(|param| match param {
        Value::Null => 'n',
        Value::Int(_) => 'i',
        Value::Real(_) => 'r',
        Value::Text(_) => 't',
        Value::Blob(_) => 'b',
    })
}
