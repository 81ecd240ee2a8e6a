//! The hiring graph: who hired and paid which agent, also as a picture, and which agents are alike.
//!
//! README.md has the details. The rules that must not break: sums follow from chain events alone (`chain.rs`), exact and kept by the
//! addresses that paid; whom an address counts for is applied when an edge is read (`store/edges.rs`).

#![forbid(unsafe_code)]

mod chain;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin, Skill, export_plugin, migrations};
use std::sync::atomic::AtomicI64;

/// The plugin's state in memory.
#[derive(Default)]
pub struct Network {
    /// The agent behind which the next round of `read_capabilities` begins.
    read_up_to: AtomicI64,
}

impl Plugin for Network {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("Hiring graph")
            .requires(&["agents"])
            .routes([
                routes::get_network::route(),
                routes::get_network_graph::route(),
                routes::list_similar_agents::route(),
            ])
            .migrations(migrations![
                "0001_create",
                "0002_draw_picture",
                "0003_leave_out_labelled",
                "0004_count_by_jobs"
            ])
            .jobs([jobs::count_labelled::job(), jobs::draw_picture::job(), jobs::read_capabilities::job()])
            .skill(
                Skill::new(
                    "See who hired and paid whom, and find agents that are like one that you know",
                    &["network", "graph", "agents", "clients"],
                )
                .named("hiring-graph", "Hiring graph"),
            );
        chain::subscribe(definition)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self::default())
    }
}

export_plugin!(Network);
