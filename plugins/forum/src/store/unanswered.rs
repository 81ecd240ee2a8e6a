//! Threads without replies.

use crate::model::ThreadId;
use plugin_api::{Address, HostError, Query, sql};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct UnansweredThread {
    pub id: ThreadId,
    pub title: String,
    pub excerpt: String,
    #[serde(deserialize_with = "plugin_api::json_text")]
    pub tags: Vec<String>,
    pub author: Address,
    pub created_at: i64,
}

/// The newest first.
pub async fn list(db: &impl Query, limit: u32) -> Result<Vec<UnansweredThread>, HostError> {
    db.rows(
        sql("SELECT id, title, excerpt, tags, author, created_at FROM forum_threads WHERE post_count <= 1 \
             ORDER BY created_at DESC, id DESC LIMIT $1")
        .bind(limit),
    )
    .await
}

/// The thread, if it has no replies.
pub async fn find(db: &impl Query, thread: ThreadId) -> Result<Option<UnansweredThread>, HostError> {
    db.row(
        sql("SELECT id, title, excerpt, tags, author, created_at FROM forum_threads WHERE post_count <= 1 AND id = $1")
            .bind(thread),
    )
    .await
}
