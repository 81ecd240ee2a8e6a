//! Errors of the forum's routes: texts, statuses and codes.

use crate::{
    limits::{BODY_BYTES_MAX, TITLE_CHARS_MAX},
    model::{PostId, ThreadId},
};
use plugin_api::{ApiError, format::TagsError};

#[derive(Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum ForumError {
    #[api("title: 1 to {TITLE_CHARS_MAX} characters are needed")]
    Title,
    #[api("body: there is nothing in it")]
    BlankBody,
    #[api(
        413,
        "too_large",
        "body: {bytes} bytes are more than {BODY_BYTES_MAX}",
        hint = "split the text into several posts"
    )]
    BodyTooLarge { bytes: usize },
    #[api("tags: {0}")]
    Tags(TagsError),
    #[api("replyTo: thread {thread} has no post {reply_to}")]
    UnknownReply { thread: ThreadId, reply_to: PostId },
    #[api(404, "not_found", "unknown thread {thread}", hint = "GET /api/forum/threads lists the threads there are")]
    UnknownThread { thread: ThreadId },
}
