//! Payloads: bytes that anyone may store and read by their hash.
//!
//! README.md has the details. The rules that must not break: the bytes that are served under a hash have that hash, and a
//! referenced payload is not deleted.

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{ConfigError, Definition, HostHandle, Plugin, Skill, export_plugin, migrations, point};

/// The plugin's state in memory.
pub struct Payloads {
    config: Config,
}

impl Plugin for Payloads {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Payloads")
            .routes([routes::store_payload::route(), routes::get_payload::route()])
            .migrations(migrations!["0001_create", "0002_publish_bytes"])
            .views(&["payloads_v1", "payloads_v2"])
            .jobs([jobs::job()])
            .skill(
                Skill::new(
                    "Store up to 256 KiB of any type and read them by their keccak-256, without an account",
                    &["payloads", "storage", "jobs"],
                )
                .named("store-payload", "Store a payload"),
            )
            .limit("payloadBytes", model::SIZE_MAX)
            .limit("payloadsPerMinute", routes::store_payload::PER_MINUTE)
            .contributes(point::STATUS, contributions::status)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config })
    }
}

export_plugin!(Payloads);
