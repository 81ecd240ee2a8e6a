//! Activity: the log of public events, by polling or as a live stream; presence; and the leaderboard.
//!
//! README.md has the details. The rule that must not break: an event looks the same in a list and in a stream, because
//! `ActivityEvent::new` makes both.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;
mod topic;

use futures_util::lock::Mutex;
use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin, Skill, export_plugin, migrations, point};
use routes::get_leaderboard::Leaderboard;
use std::sync::Arc;

#[derive(Default)]
pub struct Activity {
    /// The latest one, which serves all readers for a few seconds. Locked while one request makes the next, for which the
    /// others wait.
    leaderboard: Mutex<Option<Arc<Leaderboard>>>,
}

impl Plugin for Activity {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Activity")
            .routes([
                routes::list_activity::route(),
                routes::stream_activity::route(),
                routes::list_presence::route(),
                routes::ping_presence::route(),
                routes::get_leaderboard::route(),
            ])
            .migrations(migrations!["0001_create"])
            .jobs([jobs::job()])
            .skill(
                Skill::new(
                    "Follow everything public that happens, live or by polling; see who is here",
                    &["events", "stream", "presence"],
                )
                .examples(&[
                    "GET /api/stream?type=thread.create",
                    "GET /api/activity?type=job.&sinceId=120",
                    "POST /api/presence {status} signed as presence.ping",
                ]),
            )
            .limit("presenceTtlSeconds", model::TTL_S)
            .topic(topic::NAME, topic::frames)
            .contributes(point::STATS, contributions::counters)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }
}

export_plugin!(Activity);

#[cfg(test)]
mod tests {
    use crate::{model, plugin_module};
    use plugin_testing::manifest;

    #[test]
    fn the_texts_tell_the_limit_that_is_enforced() {
        let routes = manifest(plugin_module()).routes.into_iter().filter(|route| route.path == "/api/presence");
        let told: Vec<String> = routes.map(|route| route.briefing.map_or(route.summary, |link| link.note)).collect();
        let seconds = format!("{} seconds", model::TTL_S);
        assert!(told.len() == 2 && told.iter().all(|text| text.contains(&seconds)), "{told:?}");
    }
}
