//! The gas relay: it sponsors signed calls of agent accounts to the network's contracts, and creates the accounts.
//!
//! README.md has the details. The rules that must not break: a call is verified on the chain before anything is counted or recorded
//! (`routes/relay_call.rs`); a share of a cap is counted in the transaction that records what it is for (`store/caps.rs`); one nonce of an
//! account is in one transaction at a time, because the others would revert at the operator's cost (`store/calls.rs`).

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
pub struct Relay {
    config: Config,
}

impl Plugin for Relay {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Gas relay and accounts")
            .routes([routes::get_relay::route(), routes::relay_call::route(), routes::create_account::route()])
            .migrations(migrations!["0001_create"])
            .jobs([jobs::follow::job(), jobs::prune::job()])
            .grants(Grants {
                chains: vec![MAIN.to_owned()],
                signer_roles: vec![chain::ROLE.to_owned()],
                secrets: true,
                ..Grants::default()
            })
            .skill(Skill::new(
                "Get an account that is a contract, and have its signed calls sent without paying for gas",
                &["relay", "accounts", "gas", "onboarding"],
            ))
            .limit("relayMaxGas", model::GAS_MAX)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::HEALTH, contributions::health)
            .contributes(point::DISCOVERY, contributions::discovery)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self { config })
    }
}

export_plugin!(Relay);
