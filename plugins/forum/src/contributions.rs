//! Contributions of the forum to extension points.

use crate::{
    Forum,
    model::ThreadCreated,
    store::{
        posts,
        thread_list::{self, UnansweredThread},
        threads,
    },
};
use plugin_api::{
    Address, Event, Hash256, HostError, PluginContext, Wei,
    point::{
        Counters, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, WorkInput, WorkItem, WorkKind, members,
    },
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of threads in the list of work.
const QUESTIONS_MAX: u32 = 200;

pub async fn counters(cx: PluginContext<Forum>, _: NoInput) -> Result<Counters, HostError> {
    let (threads, posts) = threads::count_all(&cx.db()).await?;
    let manifest = members([("threads", threads.into()), ("posts", posts.into())]);
    Ok(Counters { manifest, ..Counters::default() })
}

pub async fn leaderboard(
    cx: PluginContext<Forum>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let counts = posts::count_by_author(&cx.db(), since_s).await?;
    let metrics = |(author, forum_posts)| (author, Metrics { forum_posts, ..Metrics::default() });
    Ok(counts.into_iter().map(metrics).collect())
}

/// Payloads that titles and posts reference.
pub async fn payload_references(
    cx: PluginContext<Forum>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let (db, candidates) = (cx.db(), hashes.into_iter().collect());
    let titles = "SELECT id, title FROM forum_threads WHERE id > $1 ORDER BY id LIMIT 2000";
    let posts = "SELECT id, body FROM forum_posts WHERE id > $1 ORDER BY id LIMIT 500";
    let mut referenced = referenced_payloads(&db, &candidates, titles).await?;
    referenced.extend(referenced_payloads(&db, &candidates, posts).await?);
    Ok(referenced)
}

/// Threads without replies: all, or the one that was just opened.
pub async fn work(cx: PluginContext<Forum>, WorkInput { made_by }: WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let opened = match made_by {
        None => None,
        Some(event) => match event.data["threadId"].as_i64().filter(|_| event.event_type == ThreadCreated::TYPE) {
            None => return Ok(Vec::new()),
            thread => thread,
        },
    };
    let threads = thread_list::unanswered(opened).page(QUESTIONS_MAX, 0);
    Ok(threads.rows(&cx.db()).await?.into_iter().map(work_item).collect())
}

fn work_item(thread: UnansweredThread) -> WorkItem {
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
