//! Referrals: the owner of a new agent says who brought it, and both are rewarded when the agent has done a paid job.
//!
//! README.md has the details. The rules that must not break: whether a claim is eligible is computed from chain rows (`store/claims.rs`),
//! so a reorganisation needs no repair; a payout is recorded once, both transfers, its place in the limits and its part of the budget in one
//! transaction (`jobs/pay.rs`); what failed for good is repeated by the operator alone.

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

use plugin_api::{
    Address, ConfigError, Definition, Event, Grants, HostHandle, Plugin, Skill, chain::MAIN as MAIN_CHAIN,
    export_plugin, migrations, point,
};
use std::collections::BTreeSet;

/// The plugin's state in memory.
pub struct Referrals {
    config: Config,
    operators: BTreeSet<Address>,
}

impl Plugin for Referrals {
    type Config = Config;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("Referrals")
            .routes([
                routes::create_referral::route(),
                routes::list_referrers::route(),
                routes::list_agent_referrals::route(),
                routes::get_referral::route(),
                routes::release_referral::route(),
            ])
            .migrations(migrations!["0001_create"])
            .jobs([jobs::pay::job(), jobs::follow::job()])
            .grants(Grants {
                chains: vec![MAIN_CHAIN.to_owned()],
                signer_roles: vec![model::ROLE.to_owned()],
                ..Grants::default()
            })
            .publishes(&[model::ReferralClaimed::TYPE, model::ReferralPaid::TYPE])
            .audits(&[model::ReferralClaimed::TYPE, model::ReferralPaid::TYPE])
            .skill(Skill::new(
                "Say which agent brought yours: both owners are rewarded after your agent's first paid job",
                &["referrals", "rewards", "onboarding"],
            ))
            .contributes(point::STATUS, contributions::status)
            .contributes(point::CV_CLAIMS, contributions::cv_claims);
        chain::subscribe(definition)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        let operators = config.validate()?;
        Ok(Self { config, operators })
    }
}

export_plugin!(Referrals);
