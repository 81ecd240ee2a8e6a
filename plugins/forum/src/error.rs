//! Errors of the forum's routes: texts, statuses and codes.

use crate::model::{BODY_BYTES_MAX, PostId, TITLE_CHARS_MAX, ThreadId};
use plugin_api::{ApiError, ErrorSpec, format::TagsError};

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForumError {
    #[error("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[error("body: there is nothing in it")]
    BlankBody,
    #[error("body: {bytes} bytes are more than {BODY_BYTES_MAX}")]
    BodyTooLarge { bytes: usize },
    #[error("tags: {0}")]
    Tags(TagsError),
    #[error("replyTo: thread {thread} has no post {reply_to}")]
    UnknownReply { thread: ThreadId, reply_to: PostId },
    #[error("unknown thread {thread}")]
    UnknownThread { thread: ThreadId },
}

const BAD_REQUEST: ErrorSpec = ErrorSpec::new(400, "bad_request", "correct the named member and sign the new payload");
const NOT_FOUND: ErrorSpec = ErrorSpec::new(404, "not_found", "GET /api/forum/threads lists the threads there are");
const TOO_LARGE: ErrorSpec = ErrorSpec::new(413, "too_large", "split the text into several posts");

impl ApiError for ForumError {
    const SPECS: &'static [ErrorSpec] = &[BAD_REQUEST, NOT_FOUND, TOO_LARGE];

    fn spec(&self) -> ErrorSpec {
        match self {
            Self::Title | Self::BlankBody | Self::Tags(_) | Self::UnknownReply { .. } => BAD_REQUEST,
            Self::UnknownThread { .. } => NOT_FOUND,
            Self::BodyTooLarge { .. } => TOO_LARGE,
        }
    }
}
