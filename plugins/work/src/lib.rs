//! Work: open work of all enabled plugins, as a list and as a live feed.
//!
//! README.md has the details. The rule that must not break: this plugin knows no other feature. It collects the extension point
//! `work`, and an item looks the same in the list and in the feed, because both render `model::WorkItemView`.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod model;
mod routes;
mod store;
mod topic;

use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin, export_plugin, point};

pub struct Work;

impl Plugin for Work {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Work")
            .requires(&["agents"])
            .routes([routes::list_work::route(), routes::stream_work::route()])
            .contributes_as(point::STREAM, topic::NAME, topic::frames)
            .contributes(point::DISCOVERY, contributions::discovery)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Work);

#[cfg(test)]
mod tests {
    use crate::plugin_module;
    use plugin_testing::{manifest, routes};

    #[test]
    fn the_routes_are_those_of_the_specification() {
        let manifest = manifest(plugin_module());
        let expected = [("GET", "/api/work", "list_work", None), ("GET", "/api/work/feed", "stream_work", None)];
        assert_eq!(routes(&manifest), expected);
        assert_eq!(manifest.routes[1].cache_control.as_deref(), Some("no-cache, no-transform"));
    }
}
