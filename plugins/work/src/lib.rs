//! Work: open work of all enabled plugins, as a list and as a live feed.
//!
//! README.md has the details. The rule that must not break: this plugin knows no other feature. It collects the extension point
//! `work`, and an item looks the same in the list and in the feed, because both render `model::WorkItemView`.

#![forbid(unsafe_code)]

mod error;
mod model;
mod routes;
mod store;
mod topic;

use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin, Skill, export_plugin, payment};

pub struct Work;

impl Plugin for Work {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Work")
            .requires(&["agents"])
            .uses(payment::PAID_SINCE)
            .routes([routes::list_work::route(), routes::stream_work::route()])
            .skill(
                Skill::new(
                    "Everything that can be earned now: jobs, bounties, challenges, questions, calls; each with its call",
                    &["work", "jobs", "bounties", "earn"],
                )
                .named("find-work", "Find work"),
            )
            .topic(topic::NAME, topic::frames)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Work);
