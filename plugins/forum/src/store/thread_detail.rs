//! A thread with all its posts.
//!
//! One statement reads thread and posts, so that they are consistent. Only a thread with very many posts takes several.

use crate::model::{PostId, ThreadId, is_upvote};
use plugin_api::{Address, HostError, Query, StatementResult, sql};
use serde::Deserialize;

/// A post with the columns of its thread, which are equal in all rows of one statement.
#[derive(Deserialize)]
pub struct DetailRow<'r> {
    pub kept: &'r str,
    pub author: Address,
    pub last_post_at: i64,
    pub post_count: i64,
    pub upvotes: i64,
    pub post_id: PostId,
    pub post_author: Address,
    pub body: &'r str,
    pub reply_to: Option<PostId>,
    pub created_at: i64,
}

/// The rows of a thread.
pub struct ThreadRows {
    parts: Vec<StatementResult>,
}

/// Posts per statement: the gateway limits the size of a result, not of a response.
const POSTS_PER_READ: usize = 250;

/// Selects [`POSTS_PER_READ`] posts.
const READ: &str = "SELECT t.kept, t.author, t.last_post_at, t.post_count, t.upvotes, \
    p.id AS post_id, p.author AS post_author, p.body, p.reply_to, p.created_at \
    FROM forum_threads t JOIN forum_posts p ON p.thread_id = t.id \
    WHERE t.id = $1 AND p.thread_id = $1 AND p.id > $2 ORDER BY p.id LIMIT 250";

/// `None` when the thread does not exist: every thread has an opening post.
pub async fn find(db: &impl Query, thread: ThreadId) -> Result<Option<ThreadRows>, HostError> {
    let mut parts = Vec::new();
    let mut after = PostId(0);
    loop {
        let part = db.run(sql(READ).bind(thread).bind(after)).await?;
        if part.rows.row_count() < POSTS_PER_READ {
            parts.push(part);
            break;
        }
        after = part.all::<DetailRow<'_>>()?.last().map_or(after, |row| row.post_id);
        parts.push(part);
    }
    Ok(parts.first().is_some_and(|part| !part.rows.is_empty()).then_some(ThreadRows { parts }))
}

impl ThreadRows {
    /// The posts, the opening post first; at least one.
    pub fn rows(&self) -> Result<Vec<DetailRow<'_>>, HostError> {
        let mut rows: Vec<DetailRow<'_>> = Vec::new();
        for part in &self.parts {
            rows.append(&mut part.all()?);
        }
        if self.parts.len() > 1 {
            recount(&mut rows);
        }
        Ok(rows)
    }
}

/// Recomputes the thread's counts from its posts: a reply may be committed between two statements.
fn recount(rows: &mut [DetailRow<'_>]) {
    let count = |posts: usize| i64::try_from(posts).unwrap_or(i64::MAX);
    let (posts, upvotes) = (count(rows.len()), count(rows.iter().filter(|row| is_upvote(row.body)).count()));
    let last_post_at = rows.iter().map(|row| row.created_at.max(row.last_post_at)).max();
    if let Some(first) = rows.first_mut() {
        (first.post_count, first.upvotes) = (posts, upvotes);
        first.last_post_at = last_post_at.unwrap_or(first.last_post_at);
    }
}
