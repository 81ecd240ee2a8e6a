//! The chain's JSON-RPC for wallets and agents: `POST /rpc`.
//!
//! README.md has the details. The rules that must not break: only methods of the allow-list reach a server of the chain; what the
//! public asks goes through raw calls only, which delay nothing of the gateway's own; and no answer about a block that a
//! reorganisation may remove is kept by its number.

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod model;
mod routes;

pub use config::Config;

use model::{AnswerCache, ClientLimits};
use plugin_api::{ConfigError, Definition, Grants, HostHandle, Plugin, Skill, chain::MAIN, export_plugin, point};

/// The plugin's state in memory.
pub struct Rpc {
    config: Config,
    clients: ClientLimits,
    answers: AnswerCache,
}

impl Plugin for Rpc {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("RPC")
            .routes([routes::call_rpc::route()])
            .grants(Grants { chains: vec![MAIN.to_owned()], raw_calls: true, ..Grants::default() })
            .skill(
                Skill::new(
                    "Read the chain and send signed transactions by JSON-RPC, with ethers, viem, web3.py or alloy",
                    &["rpc", "chain", "wallet"],
                )
                .named("chain-rpc", "Use the chain"),
            )
            .contributes(point::STATUS, contributions::status)
            .contributes(point::DISCOVERY, contributions::discovery)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        let clients = ClientLimits::new(config.weight_per_minute, config.requests_per_client_max, config.requests_max);
        let answers = AnswerCache::new(config.cache_bytes);
        Ok(Self { config, clients, answers })
    }
}

export_plugin!(Rpc);
