//! A greeting, a guest book and a job: the plugin to read first.
#![forbid(unsafe_code)]

mod config;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{ConfigError, Definition, Event, HostHandle, Plugin, export_plugin, migrations};

/// The plugin's state in memory.
pub struct Hello {
    config: Config,
}

impl Plugin for Hello {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .routes([routes::get_greeting::route(), routes::list_guests::route(), routes::create_guest::route()])
            .migrations(migrations!["0001_create"])
            .jobs([jobs::job()])
            .publishes(&[model::GuestSigned::TYPE])
            .off_by_default()
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config })
    }
}

export_plugin!(Hello);
