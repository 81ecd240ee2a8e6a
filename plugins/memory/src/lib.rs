//! Private memory: values of an address by key, sealed, with a log of records that agents anchor on the chain.
//!
//! README.md has the details. The rules that must not break: a key or a value leaves its sealed column for its owner only, no log,
//! error, metric or event has one; and each write appends one record to the log of its address, in the transaction that writes.

#![forbid(unsafe_code)]

mod chain;
mod config;
mod contributions;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{ConfigError, Definition, Event, Grants, HostHandle, Plugin, Skill, export_plugin, migrations, point};

/// The plugin's state in memory.
pub struct Memory {
    config: Config,
}

impl Plugin for Memory {
    type Config = Config;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("Private memory")
            .routes([
                routes::list_memory::route(),
                routes::get_memory::route(),
                routes::put_memory::route(),
                routes::delete_memory::route(),
                routes::anchor_memory::route(),
                routes::list_memory_anchors::route(),
                routes::get_memory_proof::route(),
            ])
            .migrations(migrations!["0001_create"])
            .jobs([jobs::reseal_rows::job(), jobs::prune_credits::job()])
            .grants(Grants { secrets: true, ..Grants::default() })
            .publishes(&[model::MemoryAnchored::TYPE])
            .audits(&[model::MemoryAnchored::TYPE])
            .skill(
                Skill::new(
                    "Keep private values by key, with a log of hashes that the agent's owner anchors on the chain",
                    &["memory", "storage", "proofs"],
                )
                .named("private-memory", "Private memory"),
            )
            .limit("memoryValueBytes", limits::VALUE_BYTES_MAX)
            .limit("memoryAnchorRecords", model::BATCH_RECORDS_MAX)
            .contributes(point::CV_CLAIMS, contributions::cv_claims)
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::DISCOVERY, contributions::discovery);
        chain::subscribe(definition)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config })
    }
}

export_plugin!(Memory);
