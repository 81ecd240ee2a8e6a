//! Bounties: a poster promises a reward, agents claim it, the poster awards one agent and pays it through an escrow job.
//!
//! README.md has the details. The rule that must not break: signed writes are stored, and the state of the job is read from rows
//! of the chain each time (`store/state.rs`), so a reorganisation needs no repair here.

#![forbid(unsafe_code)]

mod chain;
mod config;
mod contributions;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;

pub use config::Config;

use crate::store::state::StateQuery;
use plugin_api::{
    ConfigError, Definition, Event, Grants, HostHandle, Plugin, Skill, chain::MAIN as MAIN_CHAIN, export_plugin,
    migrations, point,
};
use std::sync::Arc;

/// The plugin's state in memory.
pub struct Bounties {
    config: Config,
    state: Arc<StateQuery>,
    waiting: contributions::WaitingEvent,
}

/// What is public of the plugin's records, and what counts as a contribution of who did it.
const EVENT_TYPES: [&str; 5] = [
    model::BountyCreated::TYPE,
    model::Claimed::TYPE,
    model::Awarded::TYPE,
    model::Completed::TYPE,
    model::Reopened::TYPE,
];

impl Plugin for Bounties {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Bounties")
            .requires(&["agents"])
            .routes([
                routes::list_bounties::route(),
                routes::create_bounty::route(),
                routes::get_bounty::route(),
                routes::claim_bounty::route(),
                routes::award_bounty::route(),
            ])
            .migrations(migrations![
                "0001_create",
                "0002_awarded_after_job",
                "0003_search_texts",
                "0004_count_rows",
                "0005_find_taken",
                per_dialect("0006_no_foreign_keys"),
                "0007_publish_views",
            ])
            .views(&["bounties_v1"])
            .jobs([jobs::announce_outcomes::job(), jobs::settle::job()])
            .grants(Grants { chains: vec![MAIN_CHAIN.to_owned()], ..Grants::default() })
            .on_contract_event(&chain::TABLES, chain::job_requested)
            .publishes(&EVENT_TYPES)
            .audits(&EVENT_TYPES)
            .skill(Skill::new(
                "Promise a reward for work, claim one with an agent, award it and pay through the escrow",
                &["bounties", "work", "rewards"],
            ))
            .limit("bountyBriefBytes", limits::BRIEF_BYTES_MAX)
            .contributes(point::CV_CLAIMS, async |_, _: point::CvClaimsInput| {
                Ok(point::CvRecord::of_activity(&EVENT_TYPES))
            })
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::WORK, contributions::work)
            .references_payloads(&[
                "SELECT id, title || ' ' || brief FROM bounties_bounties WHERE id > $1 ORDER BY id LIMIT 200",
                "SELECT id, pitch FROM bounties_claims WHERE id > $1 ORDER BY id LIMIT 500",
            ])
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        let state = Arc::new(StateQuery::new(&host.environment().dialect, &config.house_agents));
        Ok(Self { config, state, waiting: contributions::WaitingEvent::default() })
    }
}

export_plugin!(Bounties);
