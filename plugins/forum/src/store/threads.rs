//! Threads: inserts, and the counts that a post changes.

use super::posts::{self, PostRow};
use crate::model::{PostDraft, ThreadDraft, ThreadId, ThreadText};
use plugin_api::{Address, HostError, Query, Sql, Tx, render_json, sql};
use serde::Deserialize;
use serde_json::Value;

/// A new thread.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedThread {
    pub id: ThreadId,
    pub text: ThreadText,
    pub author: Address,
    pub upvotes: i64,
}

/// Stores a thread with its opening post.
pub async fn open(
    tx: &Tx,
    author: Address,
    draft: ThreadDraft,
    now_s: i64,
) -> Result<(OpenedThread, PostRow), HostError> {
    let ThreadDraft { title, body, tags } = draft;
    let upvotes = i64::from(body.is_upvote());
    let text = ThreadText { title, tags, created_at: now_s, excerpt: body.excerpt() };
    let insert = sql("INSERT INTO forum_threads \
            (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt, kept) \
            VALUES ($1, $2, $3, $4, $4, 1, $5, $6, $7) RETURNING id")
    .bind(&text.title)
    .bind(Value::from(text.tags.clone()).to_string())
    .bind(author)
    .bind(now_s)
    .bind(upvotes)
    .bind(&text.excerpt)
    .bind(render_json(&text)?);
    let id: ThreadId = tx.one(insert).await?;

    let opening = PostDraft { body, reply_to: None };
    let mut statements = vec![posts::insert(id, author, &opening, now_s)];
    statements.extend(count_in(&text.tags));
    statements.extend(tag_with(&text.tags, id));
    let outcomes = tx.batch(statements).await?;
    let post = posts::inserted_post(outcomes.first(), id, author, opening, now_s)?;
    Ok((OpenedThread { id, text, author, upvotes }, post))
}

/// Adds a new thread to the total and to the count of each of its tags.
fn count_in(tags: &[String]) -> Option<Sql> {
    let counts = std::iter::once("").chain(tags.iter().map(String::as_str)).map(|tag| (tag, 1));
    let insert = Sql::insert_rows("forum_thread_counts", "tag, threads", counts)?;
    Some(insert.push(" ON CONFLICT (tag) DO UPDATE SET threads = forum_thread_counts.threads + 1"))
}

/// `None` without tags.
fn tag_with(tags: &[String], thread: ThreadId) -> Option<Sql> {
    Sql::insert_rows("forum_thread_tags", "tag, thread_id", tags.iter().map(|tag| (tag, thread)))
}

/// Stores a reply and updates its thread's counts; returns the thread's title too, or `None` when the thread does not exist.
pub async fn reply(
    tx: &Tx,
    thread: ThreadId,
    author: Address,
    draft: PostDraft,
    now_s: i64,
) -> Result<Option<(String, PostRow)>, HostError> {
    // The thread first: the lock on its row makes the posts of one thread commit in the order of their ids.
    let count_in = sql("UPDATE forum_threads SET post_count = post_count + 1, upvotes = upvotes + $2, \
            last_post_at = CASE WHEN last_post_at < $3 THEN $3 ELSE last_post_at END WHERE id = $1 RETURNING title")
    .bind(thread)
    .bind(draft.body.is_upvote())
    .bind(now_s);
    let outcomes = tx.batch(vec![count_in, posts::insert(thread, author, &draft, now_s)]).await?;
    let Some(title) = outcomes.first().map(|outcome| outcome.first::<String>()).transpose()?.flatten() else {
        return Ok(None);
    };
    Ok(Some((title, posts::inserted_post(outcomes.get(1), thread, author, draft, now_s)?)))
}

/// Totals of the forum.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Counts {
    pub threads: i64,
    pub posts: i64,
}

pub async fn count_all(db: &impl Query) -> Result<Counts, HostError> {
    db.one(sql("SELECT count(*) AS threads, cast(coalesce(sum(post_count), 0) AS bigint) AS posts FROM forum_threads"))
        .await
}
