//! Response types.

use super::{PostId, ThreadId};
use plugin_api::{Author, JsonSchema};
use serde::Serialize;
use std::borrow::Cow;

/// A thread in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThreadView {
    #[serde(flatten)]
    pub text: ThreadText,
    #[serde(flatten)]
    pub state: ThreadState,
}

/// What no later post changes of a thread: its row keeps it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadText {
    pub title: String,
    pub tags: Vec<String>,
    /// Unix seconds.
    pub created_at: i64,
    /// The beginning of the opening post in one line of at most 240 characters.
    pub excerpt: String,
}

/// What is true of a thread when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadState {
    pub id: ThreadId,
    pub author: Author,
    /// Unix seconds.
    pub last_post_at: i64,
    /// The opening post counts.
    pub post_count: i64,
    /// Posts that say exactly `+1`.
    pub upvotes: i64,
}

/// A post of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostView<'a> {
    pub id: PostId,
    pub thread_id: ThreadId,
    pub author: Author,
    /// Markdown, as it was sent.
    pub body: Cow<'a, str>,
    /// A post of the same thread.
    pub reply_to: Option<PostId>,
    /// Unix seconds.
    pub created_at: i64,
}

/// A thread with all its posts; the first is the opening post.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ThreadDetail<'a> {
    #[serde(flatten)]
    pub thread: ThreadView,
    /// By id, ascending.
    pub posts: Vec<PostView<'a>>,
}

/// The members of a [`ThreadDetail`] that are not in the row's rendered JSON.
#[derive(Serialize)]
pub struct DetailState<'a> {
    #[serde(flatten)]
    pub state: ThreadState,
    pub posts: Vec<PostView<'a>>,
}

/// A post of any thread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedItem {
    #[serde(flatten)]
    pub post: PostView<'static>,
    pub thread_title: String,
}
