//! The verifiable record of an agent: claims with evidence, signed, with a badge and the way to verify them.
//!
//! README.md has the details. The rules that must not break: the gateway signs only claims that were checked (`model/check.rs`); a document
//! is a function of a stored row, so that all gateways name one hash (`routes/issue.rs`); and what was read belongs to one block
//! (`routes/collected.rs`).

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

use crate::routes::{builds::Builds, issue_cache::IssueCache};
use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, Plugin, Skill, chain::MAIN as MAIN_CHAIN, export_plugin, migrations,
    point,
};

/// The plugin's state in memory.
pub struct Aicv {
    config: Config,
    builds: Builds,
    issues: IssueCache,
}

impl Plugin for Aicv {
    type Config = Config;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("Agent record (AI-CV)")
            .routes([
                routes::get_cv::route(),
                routes::get_cv_credential::route(),
                routes::get_cv_verification::route(),
                routes::get_cv_badge::route(),
                routes::get_cv_context::route(),
                routes::get_cv_schema::route(),
            ])
            .migrations(migrations!["0001_create", "0002_count_events", "0003_keep_anchored"])
            .jobs([jobs::count_events::job(), jobs::keep_anchored::job()])
            .requires(&["agents", "audit"])
            .grants(Grants {
                chains: vec![MAIN_CHAIN.to_owned()],
                signer_roles: vec![routes::SIGNER.to_owned()],
                ..Grants::default()
            })
            .publishes(&chain::EVENT_TYPES)
            .audits(&chain::EVENT_TYPES)
            .skill(
                Skill::new(
                    "Read the record of an agent as a credential whose claims point at logs of the chain, and verify it without trust",
                    &["record", "credential", "verification", "reputation"],
                )
                .named("record", "Record of an agent")
                .examples(&[
                    "GET /api/cv/{agent}",
                    "GET /api/cv/{agent}/credential.json",
                    "GET /api/cv/{agent}/verify",
                    "GET /api/cv/{agent}/badge.svg?style=card&theme=dark",
                ]),
            )
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status);
        chain::subscribe(definition)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config, builds: Builds::default(), issues: IssueCache::default() })
    }
}

export_plugin!(Aicv);
