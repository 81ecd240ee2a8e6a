//! The transparency log: the activity log as a tamper-evident Merkle tree in the C2SP formats.
//!
//! README.md has the details. The rules that must not break: no checkpoint contradicts an earlier one of its origin; it is committed, and
//! kept outside of the database, before anyone sees it; and every public event is a leaf once, whatever becomes of it.

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

pub use config::Config;

use model::Checkpoint;
use plugin_api::{
    ConfigError, Definition, Event, Grants, HostHandle, Plugin, Skill, chain::MAIN, export_plugin, migrations, point,
};
use std::sync::{Mutex, PoisonError};

/// The view of the activity log with the events that were retracted.
const WHOLE_LOG: &str = "host_activity_with_retracted_v1";

/// The plugin's state in memory.
pub struct Transparency {
    config: Config,
    /// Of a log that has none yet.
    default_origin: String,
    /// The newest checkpoint that is known to be in the file.
    published: Mutex<Option<Checkpoint>>,
    /// Why the log is stopped, as far as the operator was told.
    stopped: Mutex<Option<String>>,
}

impl Plugin for Transparency {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Transparency log")
            .routes([
                routes::get_log_checkpoint::route(),
                routes::get_log_tile::route(),
                routes::get_log_entries::route(),
            ])
            .migrations(migrations!["0001_create"])
            .jobs([jobs::sign_checkpoint::job(), jobs::publish_root::job()])
            .publishes(&[model::OriginBegun::TYPE])
            .grants(Grants {
                secrets: true,
                files: true,
                views: vec![WHOLE_LOG.to_owned()],
                chains: vec![MAIN.to_owned()],
                signer_roles: vec![jobs::publish_root::ROLE.to_owned()],
                ..Grants::default()
            })
            .skill(
                Skill::new(
                    "Check that the activity log was never rewritten: signed checkpoints, hashes and entries in the C2SP formats",
                    &["transparency", "audit", "proofs"],
                )
                .named("transparency-log", "Transparency log"),
            )
            .limit("logEntryBytes", i64::try_from(model::ENTRY_BYTES_MAX).unwrap_or(i64::MAX))
            .contributes(point::STATUS, contributions::status)
            .contributes(point::HEALTH, contributions::health)
            .contributes(point::DISCOVERY, contributions::discovery)
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        config.validate(host.environment())?;
        let base_url = &host.environment().base_url;
        let without_scheme = base_url.split_once("://").map_or(&**base_url, |(_, rest)| rest);
        let default_origin = format!("{without_scheme}/api/log");
        Ok(Self { config, default_origin, published: Mutex::default(), stopped: Mutex::default() })
    }
}

impl Transparency {
    /// The origin of the configuration; without one, a log keeps the one that it has, wherever the gateway is reached by now.
    fn origin<'a>(&'a self, present: Option<&'a Checkpoint>) -> &'a str {
        let kept = || present.map(|checkpoint| &*checkpoint.origin);
        self.config.origin.as_deref().or_else(kept).unwrap_or(&self.default_origin)
    }

    /// Returns whether the reason is another one than before.
    fn note_stop(&self, reason: Option<&str>) -> bool {
        let mut noted = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = noted.as_deref() != reason;
        *noted = reason.map(str::to_owned);
        is_new
    }

    fn published(&self) -> Option<Checkpoint> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_published(&self, checkpoint: Checkpoint) {
        *self.published.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint);
    }
}

export_plugin!(Transparency);
