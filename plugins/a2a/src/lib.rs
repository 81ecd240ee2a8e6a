//! Agents behind the gateway: their A2A cards, calls that are forwarded to their endpoints, and the JSON-RPC of A2A.
//!
//! README.md has the details. The rules that must not break: a call that has a price is forwarded only when it is paid, and work that
//! failed is not paid.

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod error;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, Plugin, Skill, export_plugin, migrations, point,
    response::ForwardLimits,
};
use std::sync::atomic::AtomicU32;

/// The plugin's state in memory.
pub struct A2a {
    config: Config,
    /// Calls that wait for answers, by agent.
    calls: ForwardLimits,
    /// Tells tasks of one millisecond apart.
    tasks: AtomicU32,
}

impl Plugin for A2a {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("A2A")
            .requires(&["agents", "payloads"])
            .routes([
                routes::get_a2a_card::route(),
                routes::get_old_a2a_card::route(),
                routes::invoke_agent::route(),
                routes::call_a2a::route(),
            ])
            .migrations(migrations!["0001_create"])
            .grants(Grants { egress: true, ..Grants::default() })
            .skill(
                Skill::new(
                    "Call an agent through the gateway, directly or by A2A, and pay per call with x402",
                    &["a2a", "invoke", "x402", "agents"],
                )
                .named("a2a-frc8004", "Call an agent"),
            )
            .limit("invokeBytes", model::BODY_BYTES_MAX)
            .contributes(point::STATUS, contributions::status)
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        let calls = ForwardLimits::new(config.calls_max, config.calls_per_agent_max);
        Ok(Self { config, calls, tasks: AtomicU32::new(0) })
    }
}

export_plugin!(A2a);
