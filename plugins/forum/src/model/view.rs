//! Response types. The members of a thread that no post changes are stored as rendered JSON.

use super::{PostId, ThreadId};
use plugin_api::{Author, JsonSchema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A thread in a list.
#[derive(Serialize, JsonSchema)]
pub struct ThreadView {
    #[serde(flatten)]
    pub text: ThreadText,
    #[serde(flatten)]
    pub state: ThreadState<'static>,
}

/// The members of a thread that its row stores as rendered JSON.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadText {
    pub title: String,
    pub tags: Vec<String>,
    /// Unix seconds.
    pub created_at: i64,
    /// The beginning of the opening post in one line of at most 240 characters.
    pub excerpt: String,
}

/// The other members of a thread, decoded from its row.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadState<'r> {
    /// The rendered members, to which a response adds those below. Empty where they stand beside it as a [`ThreadText`].
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub rendered: &'r str,
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
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostView<'r> {
    pub id: PostId,
    pub thread_id: ThreadId,
    pub author: Author,
    /// Markdown, as it was sent.
    #[serde(borrow)]
    pub body: Cow<'r, str>,
    /// A post of the same thread.
    pub reply_to: Option<PostId>,
    /// Unix seconds.
    pub created_at: i64,
}

/// A thread with all its posts; the first is the opening post.
#[derive(Serialize, JsonSchema)]
pub struct ThreadDetail {
    #[serde(flatten)]
    pub thread: ThreadView,
    /// By id, ascending.
    pub posts: Vec<PostView<'static>>,
}

/// The members of a [`ThreadDetail`] that are not in the row's rendered JSON.
#[derive(Serialize)]
pub struct DetailState<'r> {
    #[serde(flatten)]
    pub state: ThreadState<'r>,
    pub posts: Vec<PostView<'r>>,
}

/// A post of any thread.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedItem {
    pub id: PostId,
    pub thread_id: ThreadId,
    pub author: Author,
    /// Markdown, as it was sent.
    pub body: String,
    /// A post of the same thread.
    pub reply_to: Option<PostId>,
    /// Unix seconds.
    pub created_at: i64,
    pub thread_title: String,
}
