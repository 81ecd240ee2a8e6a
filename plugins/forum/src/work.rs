//! Contributes threads without replies to the list of work.

use crate::{
    Forum,
    model::{ThreadCreated, ThreadId},
    store::unanswered::{self, UnansweredThread},
};
use plugin_api::{
    Event, HostError, PluginContext, Wei,
    point::{WorkInput, WorkItem, WorkKind},
};

const QUESTIONS_MAX: u32 = 200;

/// All threads without replies, or the one that was just opened.
pub async fn work(cx: PluginContext<Forum>, WorkInput { made_by }: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let db = cx.db();
    let Some(event) = made_by else {
        return Ok(unanswered::list(&db, QUESTIONS_MAX).await?.into_iter().map(item).collect());
    };
    let opened = Some(&event.data["threadId"]).filter(|_| event.event_type == ThreadCreated::TYPE);
    let Some(thread) = opened.and_then(serde_json::Value::as_i64) else { return Ok(Vec::new()) };
    Ok(unanswered::find(&db, ThreadId(thread)).await?.into_iter().map(item).collect())
}

fn item(thread: UnansweredThread) -> WorkItem {
    let UnansweredThread { id, title, excerpt, tags, author, created_at } = thread;
    WorkItem {
        kind: WorkKind::Question,
        ref_id: id.0,
        variant: None,
        title,
        summary: excerpt,
        tags,
        reward: Wei::ZERO,
        posted_at: created_at,
        deadline: None,
        agent_id: None,
        claims: 0,
        requester: Some(author),
        page: format!("/forum/{id}"),
        api: format!("/api/forum/threads/{id}"),
        action: format!("POST /api/forum/threads/{id}/posts {{body}} signed as post.create"),
    }
}
