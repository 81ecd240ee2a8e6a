//! Rows and views of the forum on axum and sqlx.

use serde::Serialize;
use sqlx::{FromRow, Row as _, SqlitePool, sqlite::SqliteRow, types::Json};

#[derive(Serialize)]
pub struct ThreadList {
    items: Vec<ThreadView>,
    total: i64,
}

#[derive(Serialize)]
pub struct Author {
    pub address: String,
    pub name: Option<String>,
    #[serde(rename = "agentId")]
    pub agent_id: Option<i64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadView {
    pub id: i64,
    pub title: String,
    pub tags: Vec<String>,
    pub author: Author,
    pub created_at: i64,
    pub last_post_at: i64,
    pub post_count: i64,
    pub excerpt: String,
    pub upvotes: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PostView {
    pub id: i64,
    pub thread_id: i64,
    pub author: Author,
    pub body: String,
    pub reply_to: Option<i64>,
    pub created_at: i64,
}

#[derive(Serialize)]
pub struct ThreadDetail {
    #[serde(flatten)]
    pub thread: ThreadView,
    pub posts: Vec<PostView>,
}

impl Author {
    pub fn of(address: String) -> Self {
        Self { address, name: None, agent_id: None }
    }
}

/// What `#[derive(FromRow)]` writes; the derive would compile SQLite and its driver a second time, for the macro.
impl FromRow<'_, SqliteRow> for ThreadView {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        let Json(tags) = row.try_get("tags")?;
        Ok(Self {
            id: row.try_get("id")?,
            title: row.try_get("title")?,
            tags,
            author: Author::of(row.try_get("author")?),
            created_at: row.try_get("created_at")?,
            last_post_at: row.try_get("last_post_at")?,
            post_count: row.try_get("post_count")?,
            excerpt: row.try_get("excerpt")?,
            upvotes: row.try_get("upvotes")?,
        })
    }
}

impl FromRow<'_, SqliteRow> for PostView {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get("id")?,
            thread_id: row.try_get("thread_id")?,
            author: Author::of(row.try_get("author")?),
            body: row.try_get("body")?,
            reply_to: row.try_get("reply_to")?,
            created_at: row.try_get("created_at")?,
        })
    }
}

const COLUMNS: &str = "id, title, tags, author, created_at, last_post_at, post_count, excerpt, upvotes";

pub async fn list(pool: &SqlitePool, limit: i64, offset: i64) -> sqlx::Result<ThreadList> {
    let page = format!("SELECT {COLUMNS} FROM forum_threads ORDER BY last_post_at DESC, id DESC LIMIT ? OFFSET ?");
    let page = sqlx::query_as(sqlx::AssertSqlSafe(page)).bind(limit).bind(offset);
    let items = page.fetch_all(pool).await?;
    let total = sqlx::query_scalar("SELECT count(*) FROM forum_threads").fetch_one(pool).await?;
    Ok(ThreadList { items, total })
}

pub async fn detail(pool: &SqlitePool, id: i64) -> sqlx::Result<Option<ThreadDetail>> {
    let thread = format!("SELECT {COLUMNS} FROM forum_threads WHERE id = ?");
    let Some(thread) = sqlx::query_as(sqlx::AssertSqlSafe(thread)).bind(id).fetch_optional(pool).await? else {
        return Ok(None);
    };
    let posts =
        "SELECT id, thread_id, author, body, reply_to, created_at FROM forum_posts WHERE thread_id = ? ORDER BY id";
    let posts = sqlx::query_as(posts).bind(id).fetch_all(pool).await?;
    Ok(Some(ThreadDetail { thread, posts }))
}
