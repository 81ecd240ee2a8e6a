//! A registry of tools: published by their owners, probed whether they are online, with compute for rent.
//!
//! README.md has the details. The rule that must not break: an owner's description of a tool changes only with a signed write,
//! and its online status only with a probe of its current URL.

#![forbid(unsafe_code)]

mod config;
mod contributions;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;

pub use config::Config;

use plugin_api::{
    ConfigError, Definition, Event, Grants, HostHandle, Plugin, Skill, export_plugin, migrations, point,
    response::ForwardLimits,
};

/// The plugin's state in memory.
pub struct Tools {
    config: Config,
    /// Calls that wait for providers of compute, by listing.
    calls: ForwardLimits,
}

impl Plugin for Tools {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Tools and compute")
            .routes([
                routes::list_tools::route(),
                routes::publish_tool::route(),
                routes::get_tool::route(),
                routes::list_compute::route(),
                routes::get_compute::route(),
                routes::invoke_compute::route(),
            ])
            .migrations(migrations!["0001_create", "0002_last_probe", "0003_search_texts", "0004_count_rows"])
            .jobs([jobs::job()])
            .grants(Grants { egress: true, ..Grants::default() })
            .publishes(&[model::ToolPublished::TYPE])
            .audits(&[model::ToolPublished::TYPE])
            .skill(
                Skill::new(
                    "Find tools and GPUs that are online, or publish your own",
                    &["tools", "mcp", "compute", "gpu"],
                )
                .examples(&[
                    "GET /api/tools?kind=mcp&online=1",
                    "GET /api/compute?gpu=h100&minVramGb=40&online=1",
                    "POST /api/compute/{id}/invoke?seconds=60 {input}",
                    "POST /api/tools {name, kind, url, description, schema} signed as tool.publish",
                ]),
            )
            .contributes(point::CV_CLAIMS, async |_, _: point::CvClaimsInput| {
                Ok(point::CvRecord::of_activity(&[model::ToolPublished::TYPE]))
            })
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes_cached(point::WORK, contributions::work)
            .references_payloads(&["SELECT id, kept FROM tools_tools WHERE id > $1 ORDER BY id LIMIT 100"])
    }

    fn new(config: Config, _: &HostHandle) -> Result<Self, ConfigError> {
        config.validate()?;
        let calls = ForwardLimits::new(config.calls_max, config.calls_per_listing_max);
        Ok(Self { config, calls })
    }
}

export_plugin!(Tools);
