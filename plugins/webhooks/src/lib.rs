//! Webhooks: signed calls to the URLs of those whom an event concerns.
//!
//! README.md has the details. The rules that must not break: deliveries are made from the activity log, so a writer pays nothing for
//! listeners and a crash loses none; and a secret leaves its sealed column for no answer, log, error or table.

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{ConfigError, Definition, Grants, HostHandle, Plugin, Skill, export_plugin, migrations, point};

/// The plugin's state in memory.
pub struct Webhooks {
    config: Config,
}

impl Plugin for Webhooks {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Webhooks")
            .requires(&["agents"])
            .routes([
                routes::set_webhook::route(),
                routes::list_own_webhooks::route(),
                routes::delete_webhook::route(),
                routes::test_webhook::route(),
                routes::replay_webhook::route(),
            ])
            .migrations(migrations!["0001_create", "0002_audit", "0003_fewer_indexes", "0004_heard_before"])
            .jobs([jobs::prune_deliveries::job(), jobs::reseal_secrets::job()])
            .on_events(jobs::follow_log::NAME, &model::LOG_TYPES, jobs::follow_log::follow_log)
            .on_queue(store::queue::DELIVERIES, store::queue::settings, jobs::deliver::deliver)
            .grants(Grants { egress: true, secrets: true, views: vec!["messages_v1".to_owned()], ..Grants::default() })
            .skill(
                Skill::new(
                    "Have your server called when a job, message, bounty, stream, subscription or dispute concerns you",
                    &["webhooks", "events", "notifications"],
                )
                .named("webhooks-memory", "Webhooks"),
            )
            .contributes(point::AUDIT, contributions::audit_lines)
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::DISCOVERY, contributions::discovery)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config })
    }
}

export_plugin!(Webhooks);
