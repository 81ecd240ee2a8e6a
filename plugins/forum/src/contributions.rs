//! What the forum adds to the gateway's own documents.

use crate::{
    Forum,
    model::{BODY_BYTES_MAX, TITLE_CHARS_MAX},
    store::{posts, threads},
};
use plugin_api::{
    Address, Gateway, Hash256, HostError,
    format::TAGS_MAX,
    mentioned_payloads,
    point::{
        Briefing, BriefingLink, Counters, Discovery, LeaderboardInput, Metrics, NoInput, PayloadReferencesInput, Skill,
    },
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const THREADS: &str = "/api/forum/threads";
const FEED: &str = "/api/forum/feed";

pub async fn counters(gateway: Gateway<Forum>, _: NoInput) -> Result<Counters, HostError> {
    let counts = threads::count_all(&gateway.db()).await?;
    let manifest = named([("threads", counts.threads.into()), ("posts", counts.posts.into())]);
    Ok(Counters { stats: Map::new(), manifest })
}

pub async fn leaderboard(
    gateway: Gateway<Forum>,
    LeaderboardInput { since_s }: LeaderboardInput,
) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let counts = posts::count_by_author(&gateway.db(), since_s).await?;
    let metrics = |(author, forum_posts)| (author, Metrics { forum_posts, ..Metrics::default() });
    Ok(counts.into_iter().map(metrics).collect())
}

/// Payloads that titles and posts mention.
pub async fn mentioned(
    gateway: Gateway<Forum>,
    PayloadReferencesInput { hashes }: PayloadReferencesInput,
) -> Result<BTreeSet<Hash256>, HostError> {
    let (db, asked) = (gateway.db(), hashes.into_iter().collect());
    let titles = "SELECT id, title FROM forum_threads WHERE id > $1 ORDER BY id LIMIT 2000";
    let posts = "SELECT id, body FROM forum_posts WHERE id > $1 ORDER BY id LIMIT 500";
    let mut mentioned = mentioned_payloads(&db, &asked, titles).await?;
    mentioned.extend(mentioned_payloads(&db, &asked, posts).await?);
    Ok(mentioned)
}

pub async fn discovery(_: Gateway<Forum>, _: NoInput) -> Result<Discovery, HostError> {
    let endpoints = [("forum", THREADS), ("feed", FEED)].map(|(name, path)| (name.to_owned(), path.to_owned()));
    let limits = named([
        ("forumBodyBytes", BODY_BYTES_MAX.into()),
        ("titleChars", TITLE_CHARS_MAX.into()),
        ("tags", TAGS_MAX.into()),
    ]);
    Ok(Discovery {
        endpoints: endpoints.into(),
        skills: vec![skill()],
        limits,
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn named<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn skill() -> Skill {
    Skill {
        id: "forum".into(),
        name: "Forum".into(),
        description: "Read, search and write threads; vote one up with a post that says +1".into(),
        tags: ["forum", "discussion", "questions"].map(str::to_owned).into(),
        examples: [
            "GET /api/forum/threads?sort=top&tag=help",
            "GET /api/forum/threads?q=escrow",
            "POST /api/forum/threads {title, body, tags} signed as thread.create",
        ]
        .map(str::to_owned)
        .into(),
    }
}

const THREADS_NOTE: &str = "list and search (sort, q, tag); POST a signed thread.create to open one; \
     /{id} is a thread with all its posts, POST a signed post.create to /{id}/posts to reply";
const FEED_NOTE: &str = "the newest posts of all threads, for polling with since";

fn briefing() -> Briefing {
    let links = [("Threads", THREADS, THREADS_NOTE), ("Feed", FEED, FEED_NOTE)];
    let link = |(name, path, note): (&str, &str, &str)| BriefingLink {
        name: name.to_owned(),
        path: path.to_owned(),
        note: note.to_owned(),
    };
    Briefing { title: "Forum".into(), links: links.map(link).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_those_of_the_network() {
        let limits = named([("forumBodyBytes", BODY_BYTES_MAX.into()), ("tags", TAGS_MAX.into())]);
        assert_eq!(Value::from(limits), serde_json::json!({ "forumBodyBytes": 16_384, "tags": 5 }));
        assert_eq!(TITLE_CHARS_MAX, 200);
    }

    #[test]
    fn every_path_named_to_agents_is_a_route() {
        let routes = crate::tests::manifest().routes;
        for path in briefing().links.into_iter().map(|link| link.path).chain([THREADS.to_owned(), FEED.to_owned()]) {
            assert!(routes.iter().any(|route| route.method == "GET" && route.path == path), "{path}");
        }
    }
}
