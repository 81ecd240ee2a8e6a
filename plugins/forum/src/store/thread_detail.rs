//! A thread with all its posts.
//!
//! One statement reads thread and posts, so that they are consistent. Only a thread with very many posts takes several.

use crate::model::{DetailState, PostId, PostView, ThreadId, ThreadState, is_upvote};
use plugin_api::{Address, HostError, Query, handles::StatementResult, sql};
use serde::Deserialize;

/// The rows of a thread: its posts, each with the columns of the thread.
pub struct ThreadRows {
    parts: Vec<StatementResult>,
}

/// Equal in all rows of one statement.
#[derive(Deserialize)]
struct ThreadColumns<'r> {
    rendered: &'r str,
    thread_author: Address,
    last_post_at: i64,
    post_count: i64,
    upvotes: i64,
}

/// Posts per statement: the gateway limits the size of a result, not of a response.
const POSTS_PER_READ: usize = 250;

/// Selects [`POSTS_PER_READ`] posts.
const READ: &str = "SELECT p.id, p.thread_id, p.author, p.body, p.reply_to, p.created_at, \
    t.kept AS rendered, t.author AS thread_author, t.last_post_at, t.post_count, t.upvotes \
    FROM forum_threads t JOIN forum_posts p ON p.thread_id = t.id \
    WHERE t.id = $1 AND p.thread_id = $1 AND p.id > $2 ORDER BY p.id LIMIT 250";

pub async fn read(db: &impl Query, thread: ThreadId) -> Result<ThreadRows, HostError> {
    let read = |after: PostId| sql(READ).bind((thread, after));
    let mut parts = vec![db.run(read(PostId(0))).await?];
    while let Some(full) = parts.last().filter(|part| part.rows.row_count() == POSTS_PER_READ) {
        let Some(PostView { id: last, .. }) = full.all()?.pop() else { break };
        parts.push(db.run(read(last)).await?);
    }
    Ok(ThreadRows { parts })
}

impl ThreadRows {
    /// `None` when the thread does not exist: every thread has an opening post.
    pub fn detail(&self, id: ThreadId) -> Result<Option<DetailState<'_>>, HostError> {
        let Some(thread) = self.parts.first().map(StatementResult::first).transpose()?.flatten() else {
            return Ok(None);
        };
        let ThreadColumns { rendered, thread_author, last_post_at, post_count, upvotes } = thread;
        let state = ThreadState { rendered, id, author: thread_author.into(), last_post_at, post_count, upvotes };
        let mut detail = DetailState { state, posts: Vec::new() };
        for part in &self.parts {
            detail.posts.append(&mut part.all()?);
        }
        if self.parts.len() > 1 {
            recount(&mut detail);
        }
        Ok(Some(detail))
    }
}

/// Recomputes the thread's counts from its posts: a reply may be committed between two statements.
fn recount(DetailState { state, posts }: &mut DetailState<'_>) {
    let count = |posts: usize| i64::try_from(posts).unwrap_or(i64::MAX);
    state.post_count = count(posts.len());
    state.upvotes = count(posts.iter().filter(|post| is_upvote(&post.body)).count());
    state.last_post_at = posts.iter().fold(state.last_post_at, |latest, post| latest.max(post.created_at));
}
