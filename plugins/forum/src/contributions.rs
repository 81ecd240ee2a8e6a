//! Contributions of the forum to extension points.

use crate::{Forum, model, store};
use plugin_api::{Address, Event, HostError, PluginContext, point};
use std::collections::BTreeMap;

/// Maximum number of threads in the list of work.
const QUESTIONS_MAX: u32 = 200;

pub async fn counters(cx: PluginContext<Forum>, _: point::NoInput) -> Result<point::Counters, HostError> {
    let (threads, posts) = store::threads::count_all(&cx.db()).await?;
    Ok(point::Counters::manifest([("threads", threads.into()), ("posts", posts.into())]))
}

pub async fn leaderboard(
    cx: PluginContext<Forum>,
    input: point::LeaderboardInput,
) -> Result<BTreeMap<Address, point::Metrics>, HostError> {
    let counts = store::posts::count_by_author(&cx.db(), &input).await?;
    let metrics = |(author, forum_posts)| (author, point::Metrics { forum_posts, ..point::Metrics::default() });
    Ok(counts.into_iter().map(metrics).collect())
}

/// Threads without replies: all, or the one that was just opened.
pub async fn work(cx: PluginContext<Forum>, input: point::WorkInput) -> Result<Vec<point::WorkItem>, HostError> {
    let Some(opened) = input.selection(&[model::ThreadCreated::TYPE], "threadId") else { return Ok(Vec::new()) };
    let threads = store::thread_list::unanswered(opened).first(QUESTIONS_MAX);
    Ok(threads.rows(&cx.db()).await?.into_iter().map(work_item).collect())
}

fn work_item(thread: store::thread_list::UnansweredThread) -> point::WorkItem {
    let store::thread_list::UnansweredThread { id, title, excerpt, tags, author, created_at } = thread;
    point::WorkItem {
        title,
        summary: excerpt,
        tags,
        posted_at: created_at,
        requester: Some(author),
        page: format!("/forum/{id}"),
        api: format!("/api/forum/threads/{id}"),
        action: format!("POST /api/forum/threads/{id}/posts {{body}} signed as post.create"),
        ..point::WorkItem::new(point::WorkKind::Question, id.0)
    }
}
