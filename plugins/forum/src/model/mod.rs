//! Types and rules of threads and posts, without a database: checks, order, excerpts, votes, response types.

mod event;
mod sort;
mod submission;
mod view;

pub use event::{PostCreated, ThreadCreated};
pub use sort::Sort;
pub use submission::{NewPost, NewThread, PostDraft, ThreadDraft, is_upvote};
pub use view::{DetailState, FeedItem, PostView, ThreadDetail, ThreadState, ThreadText, ThreadView};

plugin_api::record_id! {
    /// A thread.
    ThreadId, "thread";
    /// A post.
    PostId, "post";
}
