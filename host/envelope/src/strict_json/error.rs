//! Why the JSON of a request is refused, with the position.

use std::fmt;

/// Every variant is reported with status 400.
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

/// The depth that serde_json's recursion limit allows.
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
    /// What the client can change.
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
