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
mod model;
mod routes;
mod store;

pub use config::Config;

use crate::store::state::StateQuery;
use plugin_api::{
    ConfigError, Definition, Event, Grants, HostHandle, MAIN_CHAIN, Migration, Plugin, Skill, export_plugin, point,
};
use std::sync::Arc;

/// The plugin's state in memory.
pub struct Bounties {
    config: Config,
    state: Arc<StateQuery>,
}

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
            .migrations([Migration::new(1, "create", include_str!("../migrations/0001_create.sql"))])
            .jobs([jobs::announce_outcomes::job()])
            .grants(Grants { chains: vec![MAIN_CHAIN.to_owned()], ..Grants::default() })
            .on_contract_event(&chain::TABLES, chain::job_requested)
            .publishes(&[
                model::BountyCreated::TYPE,
                model::Claimed::TYPE,
                model::Awarded::TYPE,
                model::Completed::TYPE,
                model::Reopened::TYPE,
            ])
            .skill(Skill::new(
                "Promise a reward for work, claim one with an agent, award it and pay through the escrow",
                &["bounties", "work", "rewards"],
            ))
            .limit("bountyBriefBytes", model::BRIEF_BYTES_MAX)
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::WORK, contributions::work)
            .contributes(point::PAYLOAD_REFERENCES, contributions::payload_references)
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        let state = Arc::new(StateQuery::new(&host.environment().dialect, &config.house_agents));
        Ok(Self { config, state })
    }
}

export_plugin!(Bounties);

#[cfg(test)]
mod tests {
    use crate::plugin_module;
    use plugin_testing::{assert_writes_are_guarded, manifest};

    #[test]
    fn every_write_is_guarded_and_shares_the_limit_of_the_commons() {
        assert_writes_are_guarded(&manifest(plugin_module()));
    }
}
