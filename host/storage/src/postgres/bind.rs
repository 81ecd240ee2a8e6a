//! Parameters on their way to PostgreSQL.
//!
//! The trap: the driver keeps prepared statements by their text alone, with the parameter types of the first call. The
//! same text with other types would send bytes in the wrong format. So the types become part of the text.

use crate::StorageError;
use crate::check::Admitted;
use plugin_api::abi::Value;
use sqlx::{
    Arguments, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo, types::Oid},
};

/// NULL without a type: the server takes the type from the place where it stands.
struct Null;

const UNSPECIFIED: PgTypeInfo = PgTypeInfo::with_oid(Oid(0));

impl Type<Postgres> for Null {
    fn type_info() -> PgTypeInfo {
        UNSPECIFIED
    }
}

impl Encode<'_, Postgres> for Null {
    fn encode_by_ref(&self, _: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Ok(IsNull::Yes)
    }
}

/// The text under which the statement is prepared: one text per combination of types.
pub fn typed_text(admitted: &Admitted) -> String {
    let sql = admitted.sql();
    let params = &admitted.statement.params;
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

pub fn types(admitted: &Admitted) -> Vec<PgTypeInfo> {
    let of = |param: &Value| match param {
        Value::Null => Null::type_info(),
        Value::Int(_) => <i64 as Type<Postgres>>::type_info(),
        Value::Real(_) => <f64 as Type<Postgres>>::type_info(),
        Value::Text(_) => <str as Type<Postgres>>::type_info(),
        Value::Blob(_) => <[u8] as Type<Postgres>>::type_info(),
    };
    admitted.statement.params.iter().map(of).collect()
}

pub fn arguments(admitted: &Admitted) -> Result<PgArguments, StorageError> {
    let mut arguments = PgArguments::default();
    for param in &admitted.statement.params {
        let added = match param {
            Value::Null => arguments.add(Null),
            Value::Int(value) => arguments.add(value),
            Value::Real(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value.as_str()),
            Value::Blob(value) => arguments.add(value.as_slice()),
        };
        added.map_err(|error| StorageError::statement(error.to_string()))?;
    }
    Ok(arguments)
}
