//! Parses the body of a request, in two steps: its canonical form, then the text of its large integers.

use super::document::{Document, EnvelopeMembers};
use super::writer::{Written, write};
use super::{error::StrictJsonError, integers};
use serde_json::Value;

/// The body of a request: its payload, and the members of the envelope that it had.
pub(crate) fn parse_body(body: &[u8]) -> Result<(Document, EnvelopeMembers), StrictJsonError> {
    let Written { document, envelope, .. } = parse_text(body, true)?;
    if !document.text().starts_with('{') {
        return Err(StrictJsonError::NotAnObject { found: type_name(&document.value()) });
    }
    Ok((document, envelope))
}

#[cfg(test)]
pub(crate) fn parse(text: &[u8]) -> Result<Value, StrictJsonError> {
    parse_document(text).map(|document| document.value())
}

#[cfg(test)]
pub(crate) fn parse_document(text: &[u8]) -> Result<Document, StrictJsonError> {
    parse_text(text, false).map(|written| written.document)
}

fn parse_text(body: &[u8], takes_envelope: bool) -> Result<Written, StrictJsonError> {
    if body.starts_with(b"\xEF\xBB\xBF") {
        return Err(StrictJsonError::ByteOrderMark);
    }
    let text = str::from_utf8(body).map_err(|error| StrictJsonError::NotUtf8 { offset: error.valid_up_to() })?;
    if text.trim_ascii().is_empty() {
        return Err(StrictJsonError::Empty);
    }
    let written = write(text, takes_envelope)?;
    if written.has_large_number {
        integers::check(text)?;
    }
    Ok(written)
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
