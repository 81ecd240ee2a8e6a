//! The waitlist for validator seats: sign-ups, and their number.
//!
//! README.md has the details. The rule that must not break: a contact is stored with consent only, and only the export for
//! operators contains contacts and their addresses.

#![forbid(unsafe_code)]

mod config;
mod error;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{Address, ConfigError, Definition, HostHandle, Plugin, export_plugin, migrations};
use std::collections::BTreeSet;

/// The plugin's state in memory.
pub struct Validators {
    config: Config,
    operators: BTreeSet<Address>,
}

impl Plugin for Validators {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Validators")
            .routes([
                routes::get_waitlist_challenge::route(),
                routes::join_waitlist::route(),
                routes::count_waitlist::route(),
                routes::export_waitlist::route(),
            ])
            .migrations(migrations!["0001_create", "0002_signups", "0003_count_entries"])
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        let operators = config.validate()?;
        Ok(Self { config, operators })
    }
}

export_plugin!(Validators);
