//! Posts: of a thread, and the newest of all threads.

use crate::model::{FeedItem, PostDraft, PostId, PostView, ThreadId};
use plugin_api::{Address, HostError, List, Query, Sql, point::LeaderboardInput, sql};

/// Posts with the titles of their threads, the newest first.
const FEED: List = List::new(
    "forum_posts p",
    "p.id, p.thread_id, p.author, p.body, p.reply_to, p.created_at, t.title AS thread_title",
)
.join("JOIN forum_threads t ON t.id = p.thread_id")
.order_by("p.created_at DESC, p.id DESC");

/// Returns the id.
pub fn insert(thread: ThreadId, author: Address, draft: &PostDraft, now_s: i64) -> Sql {
    sql("INSERT INTO forum_posts (thread_id, author, body, reply_to, created_at) \
         VALUES ($1, $2, $3, $4, $5) RETURNING id")
    .bind((thread, author, &draft.body, draft.reply_to, now_s))
}

/// The post that [`insert`] stored with this id.
pub fn inserted(id: PostId, thread_id: ThreadId, author: Address, draft: &PostDraft, now_s: i64) -> PostView<'static> {
    let (author, body) = (author.into(), draft.body.clone().into());
    PostView { id, thread_id, author, body, reply_to: draft.reply_to, created_at: now_s }
}

pub async fn is_in_thread(db: &impl Query, post: PostId, thread: ThreadId) -> Result<bool, HostError> {
    let found: Option<i64> =
        db.row(sql("SELECT id FROM forum_posts WHERE id = $1 AND thread_id = $2").bind((post, thread))).await?;
    Ok(found.is_some())
}

/// Posts created after that second, the newest first.
pub async fn newer_than(db: &impl Query, since_s: i64, limit: u32) -> Result<Vec<FeedItem>, HostError> {
    FEED.filter("p.created_at > {}", Some(since_s)).first(limit).rows(db).await
}

/// Number of posts that each author wrote since that second; of all when it is absent.
pub async fn count_by_author(db: &impl Query, input: &LeaderboardInput) -> Result<Vec<(Address, u64)>, HostError> {
    let count = sql("SELECT author, count(*) FROM forum_posts WHERE created_at >= $1").bind(input.since());
    db.rows(input.select(count, "author", "count(*) DESC")).await
}
