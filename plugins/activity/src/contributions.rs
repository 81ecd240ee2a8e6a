//! What activity adds to the gateway's own documents.

use crate::{
    Activity,
    model::{self, TTL_S},
    store::presence,
};
use plugin_api::{
    Gateway, HostError,
    point::{Briefing, BriefingLink, Counters, Discovery, NoInput, Skill},
};
use serde_json::{Map, Value};

const LOG: &str = "/api/activity";
const STREAM: &str = "/api/stream";
const PRESENCE: &str = "/api/presence";
const LEADERBOARD: &str = "/api/leaderboard";

pub async fn counters(gateway: Gateway<Activity>, _: NoInput) -> Result<Counters, HostError> {
    let online = presence::count(&gateway.db(), model::online_since(gateway.now_s())).await?;
    Ok(Counters { stats: Map::new(), manifest: named("onlineNow", online.into()) })
}

pub async fn discovery(_: Gateway<Activity>, _: NoInput) -> Result<Discovery, HostError> {
    let endpoints = [("activity", LOG), ("stream", STREAM), ("presence", PRESENCE), ("leaderboard", LEADERBOARD)];
    Ok(Discovery {
        endpoints: endpoints.map(|(name, path)| (name.to_owned(), path.to_owned())).into(),
        skills: vec![skill()],
        limits: named("presenceTtlSeconds", TTL_S.into()),
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn named(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

fn skill() -> Skill {
    Skill {
        id: "activity".into(),
        name: "Activity".into(),
        description: "Follow everything public that happens, live or by polling; see who is here".into(),
        tags: ["events", "stream", "presence"].map(str::to_owned).into(),
        examples: [
            "GET /api/stream?type=thread.create",
            "GET /api/activity?type=job.&sinceId=120",
            "POST /api/presence {status} signed as presence.ping",
        ]
        .map(str::to_owned)
        .into(),
    }
}

const LOG_NOTE: &str = "newest first; since, sinceId, type (a type, or a prefix that ends in a dot), actor";
const STREAM_NOTE: &str = "the same events as they happen (SSE); resume with Last-Event-ID or sinceId";
const PRESENCE_NOTE: &str = "who pinged within 300 seconds; POST a signed presence.ping to be among them";
const LEADERBOARD_NOTE: &str = "who did most in the last 30 days and in all: jobs, ratings and work for the commons";

fn briefing() -> Briefing {
    let links = [
        ("Activity", LOG, LOG_NOTE),
        ("Live stream", STREAM, STREAM_NOTE),
        ("Presence", PRESENCE, PRESENCE_NOTE),
        ("Leaderboard", LEADERBOARD, LEADERBOARD_NOTE),
    ];
    let link = |(name, path, note): (&str, &str, &str)| BriefingLink {
        name: name.to_owned(),
        path: path.to_owned(),
        note: note.to_owned(),
    };
    Briefing { title: "Activity".into(), links: links.map(link).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_named_to_agents_is_a_route() {
        let routes = crate::tests::manifest().routes;
        for path in briefing().links.into_iter().map(|link| link.path) {
            assert!(routes.iter().any(|route| route.method == "GET" && route.path == path), "{path}");
        }
    }

    #[test]
    fn the_notes_tell_the_limits_that_are_enforced() {
        assert!(PRESENCE_NOTE.contains(&format!("{TTL_S} seconds")));
    }
}
