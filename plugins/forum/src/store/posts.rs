//! Posts: of a thread, and the newest of all threads.

use crate::model::{PostDraft, PostId, ThreadId};
use plugin_api::{Address, HostError, HostErrorCode, Query, Sql, StatementResult, sql};
use serde::Deserialize;

/// A new post.
#[derive(Clone, Debug, PartialEq)]
pub struct PostRow {
    pub id: PostId,
    pub thread_id: ThreadId,
    pub author: Address,
    pub body: String,
    pub reply_to: Option<PostId>,
    pub created_at: i64,
}

/// A post with the title of its thread.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FeedRow {
    pub id: PostId,
    pub thread_id: ThreadId,
    pub author: Address,
    pub body: String,
    pub reply_to: Option<PostId>,
    pub created_at: i64,
    pub thread_title: String,
}

pub fn insert(thread: ThreadId, author: Address, draft: &PostDraft, now_s: i64) -> Sql {
    sql("INSERT INTO forum_posts (thread_id, author, body, reply_to, created_at) \
         VALUES ($1, $2, $3, $4, $5) RETURNING id")
    .bind(thread)
    .bind(author)
    .bind(draft.body.as_str())
    .bind(draft.reply_to)
    .bind(now_s)
}

/// The post that [`insert`] stored; `outcome` holds its id.
pub fn inserted_post(
    outcome: Option<&StatementResult>,
    thread_id: ThreadId,
    author: Address,
    draft: &PostDraft,
    now_s: i64,
) -> Result<PostRow, HostError> {
    let missing = || HostError::new(HostErrorCode::Internal, "the gateway answered fewer outcomes than statements");
    let id = outcome.ok_or_else(missing)?.one()?;
    let (body, reply_to) = (draft.body.as_str().to_owned(), draft.reply_to);
    Ok(PostRow { id, thread_id, author, body, reply_to, created_at: now_s })
}

pub async fn is_in_thread(db: &impl Query, post: PostId, thread: ThreadId) -> Result<bool, HostError> {
    let found: Option<i64> =
        db.row(sql("SELECT id FROM forum_posts WHERE id = $1 AND thread_id = $2").bind(post).bind(thread)).await?;
    Ok(found.is_some())
}

/// Posts created after that second, newest first.
pub async fn newer_than(db: &impl Query, since_s: i64, limit: u32) -> Result<Vec<FeedRow>, HostError> {
    db.rows(
        sql("SELECT p.id, p.thread_id, p.author, p.body, p.reply_to, p.created_at, t.title AS thread_title \
             FROM forum_posts p JOIN forum_threads t ON t.id = p.thread_id WHERE p.created_at > $1 \
             ORDER BY p.created_at DESC, p.id DESC LIMIT $2")
        .bind(since_s)
        .bind(limit),
    )
    .await
}

/// Number of posts that each author wrote since that second; of all when it is absent.
pub async fn count_by_author(db: &impl Query, since_s: Option<i64>) -> Result<Vec<(Address, u64)>, HostError> {
    let all = "SELECT author, count(*) FROM forum_posts";
    db.rows(match since_s {
        Some(second) => sql(format!("{all} WHERE created_at >= $1 GROUP BY author")).bind(second),
        None => sql(format!("{all} GROUP BY author")),
    })
    .await
}
