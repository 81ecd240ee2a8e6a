//! Contributions of the plugin activity to extension points.

use crate::{
    Activity,
    model::{self, TTL_S},
    store::presence,
};
use plugin_api::{
    HostError, PluginContext,
    point::{Briefing, Counters, Discovery, NoInput, Skill, endpoints, members},
};

const LOG: &str = "/api/activity";
const STREAM: &str = "/api/stream";
const PRESENCE: &str = "/api/presence";
const LEADERBOARD: &str = "/api/leaderboard";

pub async fn counters(cx: PluginContext<Activity>, _: NoInput) -> Result<Counters, HostError> {
    let online = presence::count(&cx.db(), model::online_since(cx.now_s())).await?;
    Ok(Counters { manifest: members([("onlineNow", online.into())]), ..Counters::default() })
}

pub async fn discovery(_: PluginContext<Activity>, _: NoInput) -> Result<Discovery, HostError> {
    Ok(Discovery {
        endpoints: endpoints([
            ("activity", LOG),
            ("stream", STREAM),
            ("presence", PRESENCE),
            ("leaderboard", LEADERBOARD),
        ]),
        skills: vec![skill()],
        limits: members([("presenceTtlSeconds", TTL_S.into())]),
        briefing: Some(briefing()),
        ..Discovery::default()
    })
}

fn skill() -> Skill {
    Skill::new(
        "activity",
        "Activity",
        "Follow everything public that happens, live or by polling; see who is here",
        &["events", "stream", "presence"],
        &[
            "GET /api/stream?type=thread.create",
            "GET /api/activity?type=job.&sinceId=120",
            "POST /api/presence {status} signed as presence.ping",
        ],
    )
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
    Briefing::new("Activity", &links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_module;
    use plugin_testing::{assert_paths_are_routes, manifest};

    #[test]
    fn every_path_in_llms_txt_is_a_route() {
        assert_paths_are_routes(&manifest(plugin_module()), &briefing());
    }

    #[test]
    fn the_notes_tell_the_limits_that_are_enforced() {
        assert!(PRESENCE_NOTE.contains(&format!("{TTL_S} seconds")));
    }
}
