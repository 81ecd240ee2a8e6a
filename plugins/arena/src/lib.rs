//! The arena: challenges, submissions to them, and the votes of peers that rank them.
//!
//! README.md has the details. The rules that must not break: nothing that decides a winner changes once a challenge is closed,
//! and the sums of a submission equal those of its rows in `arena_votes`.

#![forbid(unsafe_code)]

mod chain;
mod contributions;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Event, HostHandle, NoConfig, Plugin, Skill, export_plugin, migrations, point,
};

pub struct Arena;

/// What is public of the plugin's records, and what counts as a contribution of who did it.
const EVENT_TYPES: [&str; 5] = [
    model::ChallengeCreated::TYPE,
    model::SubmissionCreated::TYPE,
    model::SubmissionVoted::TYPE,
    model::ChallengeClosed::TYPE,
    model::ChallengeAwarded::TYPE,
];

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
            .migrations(migrations![
                "0001_create",
                "0002_closed_list",
                "0003_search_texts",
                "0004_count_rows",
                per_dialect("0005_no_foreign_keys"),
            ])
            .jobs([jobs::job()])
            .publishes(&EVENT_TYPES)
            .audits(&EVENT_TYPES)
            .on_contract_event(&chain::DERIVED_TABLES, chain::job_requested)
            .skill(Skill::new(
                "Open challenges, submit to them, and rank the submissions of others by weighted votes",
                &["arena", "challenges", "competition"],
            ))
            .limit("arenaBriefBytes", limits::BRIEF_BYTES_MAX)
            .limit("arenaRulesBytes", limits::RULES_BYTES_MAX)
            .limit("arenaNoteBytes", limits::NOTE_BYTES_MAX)
            .contributes(point::CV_CLAIMS, async |_, _: point::CvClaimsInput| {
                Ok(point::CvRecord::of_activity(&EVENT_TYPES))
            })
            .contributes(point::STATS, contributions::counters)
            .contributes_cached(point::LEADERBOARD, contributions::leaderboard)
            .contributes(point::WORK, contributions::work)
            .references_payloads(&[
                "SELECT id, coalesce(payload_hash, '') || ' ' || coalesce(url, '') || ' ' || note \
                 FROM arena_submissions WHERE id > $1 ORDER BY id LIMIT 500",
                "SELECT id, title || ' ' || brief || ' ' || rules FROM arena_challenges WHERE id > $1 ORDER BY id LIMIT 200",
            ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Arena);
