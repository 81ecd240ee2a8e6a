//! Errors of the routes. `Display` is the text that the caller reads.

use crate::limits::MESSAGE_CHARS_MAX;
use plugin_api::ApiError;

#[derive(Debug, PartialEq, Eq, ApiError)]
pub enum HelloError {
    #[api(400, "empty_message", "the message is empty", hint = "put some text into the field `message`")]
    EmptyMessage,
    #[api(
        400,
        "long_message",
        "a message has at most {MESSAGE_CHARS_MAX} characters, this one has {chars}",
        hint = "shorten the text and sign it again"
    )]
    LongMessage { chars: usize },
}
