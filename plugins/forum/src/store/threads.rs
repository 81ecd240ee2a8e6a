//! Threads: inserts, and the counts that a post changes.

use super::posts;
use crate::model::{PostDraft, PostView, ThreadDetail, ThreadDraft, ThreadId, ThreadState, ThreadText, ThreadView};
use plugin_api::{Address, HostError, Query, Sql, Tx, render_json, sql};
use serde_json::Value;

/// Stores a thread with its opening post.
pub async fn open(tx: &Tx, author: Address, draft: &ThreadDraft) -> Result<ThreadDetail, HostError> {
    let (ThreadDraft { title, opening, tags }, now_s) = (draft, tx.now_s());
    let upvotes = i64::from(opening.is_upvote());
    let text = ThreadText { title: title.clone(), tags: tags.clone(), created_at: now_s, excerpt: opening.excerpt() };
    let insert = sql("INSERT INTO forum_threads \
            (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt, kept) \
            VALUES ($1, $2, $3, $4, $4, 1, $5, $6, $7) RETURNING id")
    .bind((title, Value::from(tags.as_slice()).to_string(), author, now_s, upvotes, &text.excerpt))
    .bind(render_json(&text)?);
    let id: ThreadId = tx.one(insert).await?;

    if let Some(insert) = Sql::insert_rows("forum_thread_tags", "tag, thread_id", tags.iter().map(|tag| (tag, id))) {
        tx.defer(insert)?;
    }
    let post = tx.one(posts::insert(id, author, opening, now_s)).await?;
    let state = ThreadState { rendered: "", id, author: author.into(), last_post_at: now_s, post_count: 1, upvotes };
    let posts = vec![posts::inserted(post, id, author, opening, now_s)];
    Ok(ThreadDetail { thread: ThreadView { text, state }, posts })
}

/// Stores a reply and updates its thread's counts; returns the thread's title too, or `None` when the thread does not exist.
pub async fn reply(
    tx: &Tx,
    thread: ThreadId,
    author: Address,
    draft: &PostDraft,
) -> Result<Option<(String, PostView<'static>)>, HostError> {
    let now_s = tx.now_s();
    // The thread first: the lock on its row makes the posts of one thread commit in the order of their ids.
    let count = sql("UPDATE forum_threads SET post_count = post_count + 1, upvotes = upvotes + $2, \
            last_post_at = CASE WHEN last_post_at < $3 THEN $3 ELSE last_post_at END WHERE id = $1 RETURNING title")
    .bind((thread, draft.is_upvote(), now_s));
    let [counted, inserted] = tx.run_all([count, posts::insert(thread, author, draft, now_s)]).await?;
    let Some(title) = counted.first()? else { return Ok(None) };
    Ok(Some((title, posts::inserted(inserted.one()?, thread, author, draft, now_s))))
}

/// Number of all threads, and of all posts.
pub async fn count_all(db: &impl Query) -> Result<(i64, i64), HostError> {
    db.one(sql("SELECT (SELECT row_count FROM forum_threads_counts), (SELECT row_count FROM forum_posts_counts)")).await
}
