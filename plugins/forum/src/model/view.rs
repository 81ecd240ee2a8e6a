//! What readers get.

use super::{PostId, ThreadId};
use plugin_api::{JsonSchema, point::Author};
use serde::Serialize;

/// A thread in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadView {
    pub id: ThreadId,
    pub title: String,
    pub tags: Vec<String>,
    pub author: Author,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds.
    pub last_post_at: i64,
    /// The opening post counts.
    pub post_count: i64,
    /// The beginning of the opening post in one line of at most 240 characters.
    pub excerpt: String,
    /// Posts that say exactly `+1`.
    pub upvotes: i64,
}

/// A post of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostView {
    pub id: PostId,
    pub thread_id: ThreadId,
    pub author: Author,
    /// Markdown, as it was sent.
    pub body: String,
    /// A post of the same thread.
    pub reply_to: Option<PostId>,
    /// Unix seconds.
    pub created_at: i64,
}

/// A thread with all its posts; the first is the opening post.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThreadDetail {
    #[serde(flatten)]
    pub thread: ThreadView,
    /// By id, ascending.
    pub posts: Vec<PostView>,
}

/// A post of any thread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedItem {
    #[serde(flatten)]
    pub post: PostView,
    pub thread_title: String,
}
