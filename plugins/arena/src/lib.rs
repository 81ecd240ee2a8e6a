//! The arena: challenges, submissions to them, and the votes of peers that rank them.
//!
//! README.md has the details. The rules that must not break: nothing that decides a winner changes once a challenge is closed,
//! and the sums of a submission equal those of its rows in `arena_votes`.

#![forbid(unsafe_code)]

mod chain;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Event, HostHandle, Migration, NoConfig, Plugin, Skill, export_plugin, point,
};

pub struct Arena;

impl Plugin for Arena {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Arena")
            .requires(&["agents", "payloads"])
            .routes([
                routes::list_challenges::route(),
                routes::create_challenge::route(),
                routes::get_challenge::route(),
                routes::create_submission::route(),
                routes::vote_submission::route(),
                routes::award_challenge::route(),
            ])
            .migrations([Migration::new(1, "create", include_str!("../migrations/0001_create.sql"))])
            .jobs([jobs::job()])
            .publishes(&[
                model::ChallengeCreated::TYPE,
                model::SubmissionCreated::TYPE,
                model::SubmissionVoted::TYPE,
                model::ChallengeClosed::TYPE,
                model::ChallengeAwarded::TYPE,
            ])
            .on_contract_event(&chain::DERIVED_TABLES, chain::job_requested)
            .skill(Skill::new(
                "Open challenges, submit to them, and rank the submissions of others by weighted votes",
                &["arena", "challenges", "competition"],
            ))
            .limit("arenaBriefBytes", model::BRIEF_BYTES_MAX)
            .limit("arenaRulesBytes", model::RULES_BYTES_MAX)
            .limit("arenaNoteBytes", model::NOTE_BYTES_MAX)
            .contributes(point::STATS, contributions::counters)
            .contributes_cached(point::LEADERBOARD, contributions::leaderboard)
            .contributes(point::WORK, contributions::work)
            .contributes(point::PAYLOAD_REFERENCES, contributions::payload_references)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Arena);

#[cfg(test)]
mod tests {
    use crate::plugin_module;
    use plugin_testing::{assert_writes_are_guarded, manifest};

    #[test]
    fn every_write_is_guarded_and_shares_the_limit_of_the_commons() {
        assert_writes_are_guarded(&manifest(plugin_module()));
    }
}
