//! The audit export: what is known of an agent, line by line, with a root that the gateway signs; and every log of the contracts.
//!
//! README.md has the details. The rules that must not break: an export says nothing that its root does not cover; it reads a bounded
//! number of rows, from where it begins; and the stored logs follow from the chain alone (`chain.rs`).

#![forbid(unsafe_code)]

mod chain;
mod error;
mod model;
mod routes;
mod store;

use plugin_api::{ConfigError, Definition, Grants, HostHandle, NoConfig, Plugin, Skill, export_plugin, migrations};

/// The plugin's state in memory.
pub struct Audit {
    running: model::RunningExports,
}

impl Plugin for Audit {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("Audit")
            .requires(&["agents"])
            .routes([routes::get_agent_audit::route()])
            .migrations(migrations!["0001_create"])
            .views(&["chain_logs_v1", "chain_log_addresses_v1"])
            .grants(Grants { signer_roles: vec![model::ROLE.to_owned()], ..Grants::default() })
            .skill(Skill::new(
                "Get the record of an agent line by line, signed by the gateway: logs of the chain, public writes, payments",
                &["audit", "record", "trust"],
            ))
            .limit("auditLines", model::LINES_MAX)
            .limit("auditSignedLines", model::SIGNED_LINES_MAX);
        chain::subscribe(definition)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self { running: model::RunningExports::default() })
    }
}

export_plugin!(Audit);
