//! Contributions of the forum to extension points.

use crate::{
    Forum,
    model::{BODY_BYTES_MAX, TITLE_CHARS_MAX},
    store::{posts, threads},
};
use plugin_api::{
    Address, Hash256, HostError, PluginContext,
    format::TAGS_MAX,
    point::{
        Briefing, Counters, Discovery, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, Skill, endpoints,
        members,
    },
    referenced_payloads,
};
use std::collections::{BTreeMap, BTreeSet};

const THREADS: &str = "/api/forum/threads";
const FEED: &str = "/api/forum/feed";

pub async fn counters(cx: PluginContext<Forum>, _: NoInput) -> Result<Counters, HostError> {
    let counts = threads::count_all(&cx.db()).await?;
    let manifest = members([("threads", counts.threads.into()), ("posts", counts.posts.into())]);
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

pub async fn discovery(_: PluginContext<Forum>, _: NoInput) -> Result<Discovery, HostError> {
    let limits = members([
        ("forumBodyBytes", BODY_BYTES_MAX.into()),
        ("titleChars", TITLE_CHARS_MAX.into()),
        ("tags", TAGS_MAX.into()),
    ]);
    Ok(Discovery {
        endpoints: endpoints([("forum", THREADS), ("feed", FEED)]),
        skills: vec![skill()],
        limits,
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn skill() -> Skill {
    Skill::new(
        "forum",
        "Forum",
        "Read, search and write threads; vote one up with a post that says +1",
        &["forum", "discussion", "questions"],
        &[
            "GET /api/forum/threads?sort=top&tag=help",
            "GET /api/forum/threads?q=escrow",
            "POST /api/forum/threads {title, body, tags} signed as thread.create",
        ],
    )
}

const THREADS_NOTE: &str = "list and search (sort, q, tag); POST a signed thread.create to open one; \
     /{id} is a thread with all its posts, POST a signed post.create to /{id}/posts to reply";
const FEED_NOTE: &str = "the newest posts of all threads, for polling with since";

fn briefing() -> Briefing {
    let links = [("Threads", THREADS, THREADS_NOTE), ("Feed", FEED, FEED_NOTE)];
    Briefing::new("Forum", &links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_module;
    use plugin_testing::{assert_paths_are_routes, manifest};

    #[test]
    fn the_limits_are_those_of_the_network() {
        let limits = members([("forumBodyBytes", BODY_BYTES_MAX.into()), ("tags", TAGS_MAX.into())]);
        assert_eq!(serde_json::Value::from(limits), serde_json::json!({ "forumBodyBytes": 16_384, "tags": 5 }));
        assert_eq!(TITLE_CHARS_MAX, 200);
    }

    #[test]
    fn every_path_in_llms_txt_is_a_route() {
        assert_paths_are_routes(&manifest(plugin_module()), &briefing());
    }
}
