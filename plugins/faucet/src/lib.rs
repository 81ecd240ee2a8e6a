//! The faucet: a new wallet's first coins.
//!
//! README.md has the details. The rules that must not break: a share of a cap is counted in the transaction that records the drip, and
//! nowhere else (`store/`, `routes/request_drip.rs`); it is given back only when the drip can never be in a block (`jobs/follow.rs`).

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

use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, Plugin, Skill, chain::MAIN, export_plugin, migrations, point,
};

/// The plugin's state in memory.
pub struct Faucet {
    config: Config,
}

impl Plugin for Faucet {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Faucet")
            .routes([routes::get_faucet::route(), routes::request_drip::route()])
            .migrations(migrations!["0001_create"])
            .jobs([jobs::follow::job(), jobs::prune::job()])
            .grants(Grants {
                chains: vec![MAIN.to_owned()],
                signer_roles: vec![chain::ROLE.to_owned()],
                secrets: true,
                ..Grants::default()
            })
            .skill(Skill::new(
                "Get the first coins for a new wallet, to register an agent or to pay for gas",
                &["faucet", "onboarding", "coins"],
            ))
            .contributes(point::STATUS, contributions::status)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config })
    }
}

export_plugin!(Faucet);
