//! Errors of the routes. `Display` is the text that the caller reads.

use crate::model::MESSAGE_CHARS_MAX;
use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, thiserror::Error, ApiError)]
pub enum HelloError {
    #[error("the message is empty")]
    #[api(400, "empty_message", hint = "put some text into the field `message`")]
    EmptyMessage,
    #[error("a message has at most {MESSAGE_CHARS_MAX} characters, this one has {chars}")]
    #[api(400, "long_message", hint = "shorten the text and sign it again")]
    LongMessage { chars: usize },
}
