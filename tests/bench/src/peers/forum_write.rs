//! The signed write of the forum on axum and sqlx: the checks of the gateway, then its rows in one transaction.

use super::{
    forum_rows::{Author, PostView, ThreadDetail, ThreadView},
    signed::{self, Signed, SignedError},
};
use axum::http::StatusCode;
use gateway_clock::Clock;
use serde::Deserialize;
use serde_json::json;
use sqlx::SqlitePool;

const EXCERPT_CHARS: usize = 240;

pub struct SignedThread {
    signed: Signed,
    thread: NewThread,
}

#[derive(Deserialize)]
struct NewThread {
    title: String,
    body: String,
    #[serde(default)]
    tags: Vec<String>,
}

/// What needs no database.
pub fn check(body: &[u8]) -> Result<SignedThread, SignedError> {
    let (signed, thread): (_, NewThread) = signed::check(body, "thread.create")?;
    if thread.title.trim().is_empty() || thread.body.trim().is_empty() || thread.tags.len() > 5 {
        return Err(SignedError::Refused(StatusCode::BAD_REQUEST, "title, body or tags are not as they must be"));
    }
    Ok(SignedThread { signed, thread })
}

/// Guard, interval, thread, post, tags and event; all or nothing. The triggers of the file count threads, tags and posts.
pub async fn store(pool: &SqlitePool, new: SignedThread) -> Result<ThreadDetail, SignedError> {
    let SignedThread { signed, thread: NewThread { title, body, tags } } = new;
    let now_s = Clock::System.now_s();
    let excerpt = excerpt(&body);
    let mut tx = pool.begin().await?;
    let signer = signed::guard(&mut tx, signed).await?;
    let insert = "INSERT INTO forum_threads (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt) \
                  VALUES (?, ?, ?, ?4, ?4, 1, 0, ?) RETURNING id";
    let insert = sqlx::query_scalar(insert).bind(&title).bind(json!(tags).to_string()).bind(&signer);
    let id: i64 = insert.bind(now_s).bind(&excerpt).fetch_one(&mut *tx).await?;
    let post = "INSERT INTO forum_posts (thread_id, author, body, created_at) VALUES (?, ?, ?, ?) RETURNING id";
    let post = sqlx::query_scalar(post).bind(id).bind(&signer).bind(&body).bind(now_s).fetch_one(&mut *tx).await?;
    for tag in &tags {
        let insert = sqlx::query("INSERT INTO forum_thread_tags (tag, thread_id) VALUES (?, ?)");
        insert.bind(tag).bind(id).execute(&mut *tx).await?;
    }
    let data = json!({ "threadId": id, "title": title, "tags": tags, "excerpt": excerpt });
    signed::publish(&mut tx, "thread.create", now_s, &signer, ("thread", id), data).await?;
    tx.commit().await?;
    Ok(detail(id, post, signer, title, body, tags, excerpt, now_s))
}

fn excerpt(body: &str) -> String {
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT_CHARS) {
        Some(_) => line.chars().take(EXCERPT_CHARS - 1).chain(['…']).collect(),
        None => line,
    }
}

#[allow(clippy::too_many_arguments, reason = "the columns of a thread and its opening post")]
fn detail(
    id: i64,
    post: i64,
    signer: String,
    title: String,
    body: String,
    tags: Vec<String>,
    excerpt: String,
    now_s: i64,
) -> ThreadDetail {
    let (created_at, last_post_at) = (now_s, now_s);
    let author = Author::of(signer.clone());
    let thread = ThreadView { id, title, tags, author, created_at, last_post_at, post_count: 1, excerpt, upvotes: 0 };
    let post = PostView { id: post, thread_id: id, author: Author::of(signer), body, reply_to: None, created_at };
    ThreadDetail { thread, posts: vec![post] }
}
