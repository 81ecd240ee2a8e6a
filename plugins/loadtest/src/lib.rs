//! A load test of the chain that nobody can mistake for use: what belongs to it is disclosed, and counted apart.
//!
//! README.md has the details. The rules that must not break: an address belongs to the load test exactly if it is in the table that is
//! filled while the wallets are derived from the extended public key (`jobs/derive.rs`), and no request derives any; what is counted is
//! in final blocks (`jobs/follow.rs`); the runner stores what it signs before it sends it, and signs nothing twice (`jobs/run`).

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{ConfigError, Definition, Grants, HostHandle, Plugin, chain::MAIN, export_plugin, migrations, point};
use std::sync::Arc;
use xpub_address::ExtendedPublicKey;

/// The plugin's state in memory.
pub struct Loadtest {
    config: Config,
    /// The branch of the wallets, which are its children; none where there is no load test.
    branch: Option<Arc<ExtendedPublicKey>>,
}

impl Plugin for Loadtest {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Load test")
            .routes([
                routes::get_loadtest_stats::route(),
                routes::get_loadtest_address::route(),
                routes::get_loadtest_manifest::route(),
                routes::get_loadtest_disclosure::route(),
                routes::control_loadtest::route(),
            ])
            .migrations(migrations!["0001_create", "0002_runner"])
            .jobs([jobs::derive::job(), jobs::follow::job()])
            .labels_addresses("loadtest_labelled_v1")
            .grants(Grants {
                chains: vec![MAIN.to_owned()],
                signer_roles: vec![model::ROLE.to_owned()],
                raw_calls: true,
                ..Grants::default()
            })
            .contributes(point::STATUS, contributions::status)
            .contributes(point::CONTROLS, contributions::controls)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        let branch = config.validate()?.map(Arc::new);
        Ok(Self { config, branch })
    }
}

export_plugin!(Loadtest);
