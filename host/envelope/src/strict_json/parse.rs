//! Parses the body of a request, in two steps: the value, then the text of its large integers.

use super::{builder, error::StrictJsonError, integers};
use serde_json::{Map, Value};

pub(crate) fn parse(body: &[u8]) -> Result<Value, StrictJsonError> {
    if body.starts_with(b"\xEF\xBB\xBF") {
        return Err(StrictJsonError::ByteOrderMark);
    }
    let text = str::from_utf8(body).map_err(|error| StrictJsonError::NotUtf8 { offset: error.valid_up_to() })?;
    if text.trim_ascii().is_empty() {
        return Err(StrictJsonError::Empty);
    }
    let (value, has_large_number) = builder::build(text)?;
    if has_large_number {
        integers::check(text)?;
    }
    Ok(value)
}

pub(crate) fn parse_object(body: &[u8]) -> Result<Map<String, Value>, StrictJsonError> {
    match parse(body)? {
        Value::Object(object) => Ok(object),
        other => Err(StrictJsonError::NotAnObject { found: type_name(&other) }),
    }
}

/// The type of a value as error texts name it: "not a number".
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
