//! Request payloads, and their checked forms.

use super::PostId;
use crate::{
    error::ForumError,
    limits::{BODY_BYTES_MAX, TITLE_CHARS_MAX},
};
use plugin_api::{JsonSchema, format};
use serde::Deserialize;

const EXCERPT_CHARS: usize = 240;
const UPVOTE: &str = "+1";

/// Payload of `thread.create`.
#[derive(Deserialize, JsonSchema)]
pub struct NewThread {
    /// 1 to 200 characters (UTF-16 units) after trimming.
    title: String,
    /// Markdown, not blank, at most 16,384 bytes.
    body: String,
    /// At most 5; trimmed, lower-cased, at most 32 characters each.
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// A checked thread.
pub struct ThreadDraft {
    pub title: String,
    pub opening: PostDraft,
    pub tags: Vec<String>,
}

impl NewThread {
    pub fn check(self) -> Result<ThreadDraft, ForumError> {
        let title = format::trimmed(&self.title, 1..=TITLE_CHARS_MAX).ok_or(ForumError::Title)?;
        let opening = PostDraft::check(self.body, None)?;
        let tags = format::tags(&self.tags.unwrap_or_default()).map_err(ForumError::Tags)?;
        Ok(ThreadDraft { title, opening, tags })
    }
}

/// Payload of `post.create`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewPost {
    /// Markdown, not blank, at most 16,384 bytes. Exactly `+1` is a vote for the thread.
    body: String,
    /// A post of the same thread.
    #[serde(default)]
    reply_to: Option<PostId>,
}

impl NewPost {
    pub fn check(self) -> Result<PostDraft, ForumError> {
        PostDraft::check(self.body, self.reply_to)
    }
}

/// A checked post; whether `reply_to` exists is checked separately.
pub struct PostDraft {
    /// Exactly as it was sent.
    pub body: String,
    pub reply_to: Option<PostId>,
}

impl PostDraft {
    fn check(body: String, reply_to: Option<PostId>) -> Result<Self, ForumError> {
        let too_large = |bytes| ForumError::BodyTooLarge { bytes };
        format::not_blank(&body, BODY_BYTES_MAX, ForumError::BlankBody, too_large)?;
        Ok(Self { body, reply_to })
    }

    pub fn is_upvote(&self) -> bool {
        is_upvote(&self.body)
    }

    pub fn excerpt(&self) -> String {
        format::excerpt(&self.body, EXCERPT_CHARS)
    }
}

/// Whether a post with this text is a vote for its thread.
pub fn is_upvote(body: &str) -> bool {
    body.trim() == UPVOTE
}
