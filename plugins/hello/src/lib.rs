//! A greeting, a guest book and a job: the plugin to read first. This page is its table of contents.
#![forbid(unsafe_code)]

mod config;
mod error;
mod jobs;
mod model;
mod routes;
mod stats;
mod store;

pub use config::Config;

use plugin_api::{Definition, HostHandle, Migration, Plugin, Refusal, export_plugin, point};

/// What the plugin keeps in memory while it runs.
pub struct Hello {
    config: Config,
}

impl Plugin for Hello {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([routes::get_greeting::route(), routes::list_guests::route(), routes::create_guest::route()])
            .migrations([Migration::new(1, "create", include_str!("../migrations/0001_create.sql"))])
            .jobs([jobs::prune_guests::job()])
            .publishes(&[model::SIGNED])
            .contributes(point::STATS, stats::count_guests)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, Refusal> {
        config.validate()?;
        Ok(Self { config })
    }
}

export_plugin!(Hello);
