//! JSON of a request, read so that every reader sees the same value.
//!
//! Rule: what two JSON parsers could understand differently is refused with a reason: duplicate keys, lone surrogates,
//! numbers that a double cannot hold. So the value that was hashed is the value that the handler gets. Integral numbers
//! up to 2^53 become integers however they are written (`1.0`, `1e0`, `-0`), because their canonical text is the same.

mod builder;
mod integers;

use std::fmt;

use serde_json::{Map, Value};

/// Every one of these is a 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StrictJsonError {
    #[error("the body is empty")]
    Empty,
    #[error("the body starts with a byte order mark")]
    ByteOrderMark,
    #[error("the body is not UTF-8: byte {offset} fits into no character")]
    NotUtf8 { offset: usize },
    #[error("the body is not JSON: {reason} at {position}")]
    Syntax { reason: String, position: Position },
    #[error("more text follows the JSON value at {position}")]
    TrailingText { position: Position },
    #[error("the JSON is nested too deeply at {position}; {MAX_DEPTH} levels are allowed")]
    TooDeep { position: Position },
    #[error("a string holds half of a surrogate pair at {position}")]
    LoneSurrogate { position: Position },
    #[error("the key at {path} occurs twice")]
    DuplicateKey { path: String },
    #[error("the text at {path} holds the character U+0000, which cannot be stored")]
    NulCharacter { path: String },
    #[error("the number at {position} is too large for JSON's doubles")]
    NumberTooLarge { position: Position },
    #[error("the integer at {position} would change in a double: {literal}")]
    InexactInteger { literal: String, position: Position },
    #[error("the body must be a JSON object, not {found}")]
    NotAnObject { found: &'static str },
}

/// What serde_json's recursion limit leaves.
const MAX_DEPTH: usize = 127;

/// Both count from 1; columns count bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl StrictJsonError {
    /// What the caller can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::NotAnObject { .. } => "send a JSON object, for example {\"title\": \"...\"}",
            Self::ByteOrderMark => "send UTF-8 without a byte order mark",
            Self::NotUtf8 { .. } => "send UTF-8",
            Self::Syntax { .. } => "check the JSON; common faults are trailing commas, single quotes and comments",
            Self::TrailingText { .. } => "send one JSON value and nothing after it",
            Self::TooDeep { .. } => "flatten the value or send the inner part as a string",
            Self::LoneSurrogate { .. } => {
                "write characters beyond U+FFFF as a pair of \\u escapes or as plain UTF-8; do not cut strings inside a pair"
            }
            Self::DuplicateKey { .. } => "send every key once; readers disagree on which of two values counts",
            Self::NulCharacter { .. } => "remove the character; send binary data as hex or base64",
            Self::NumberTooLarge { .. } | Self::InexactInteger { .. } => "send large numbers as strings",
        }
    }
}

pub fn parse(body: &[u8]) -> Result<Value, StrictJsonError> {
    if body.starts_with(b"\xEF\xBB\xBF") {
        return Err(StrictJsonError::ByteOrderMark);
    }
    let text = str::from_utf8(body).map_err(|error| StrictJsonError::NotUtf8 { offset: error.valid_up_to() })?;
    if text.trim_ascii().is_empty() {
        return Err(StrictJsonError::Empty);
    }
    let (value, large_numbers) = builder::build(text)?;
    if large_numbers {
        integers::check(text)?;
    }
    Ok(value)
}

pub fn parse_object(body: &[u8]) -> Result<Map<String, Value>, StrictJsonError> {
    match parse(body)? {
        Value::Object(object) => Ok(object),
        other => Err(StrictJsonError::NotAnObject { found: type_name(&other) }),
    }
}

/// As in a sentence: "not a number".
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
