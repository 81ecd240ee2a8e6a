//! Errors of the routes. `Display` is the text that the caller reads.

use crate::model::MESSAGE_CHARS_MAX;
use plugin_api::{ApiError, ErrorSpec};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    #[error("the message is empty")]
    EmptyMessage,
    #[error("a message has at most {MESSAGE_CHARS_MAX} characters, this one has {chars}")]
    LongMessage { chars: usize },
}

const EMPTY: ErrorSpec = ErrorSpec::new(400, "empty_message", "put some text into the field `message`");
const LONG: ErrorSpec = ErrorSpec::new(400, "long_message", "shorten the text and sign it again");

impl ApiError for HelloError {
    const SPECS: &'static [ErrorSpec] = &[EMPTY, LONG];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::EmptyMessage => EMPTY,
            Self::LongMessage { .. } => LONG,
        }
    }
}
