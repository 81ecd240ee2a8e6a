//! Artifacts: datasets, prompts, code and models, each published by a wallet, starred by others.
//!
//! This is the contents page; README.md tells the rest. The rules that must not break: `stars` of an artifact is the number
//! of its rows in `artifacts_stars`, and the payload it names was stored when it was published.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod model;
mod routes;
mod store;

use plugin_api::{Definition, HostHandle, Migration, NoConfig, Plugin, Refusal, export_plugin, point};

pub struct Artifacts;

impl Plugin for Artifacts {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Artifacts")
            .requires(&["payloads"])
            .routes([
                routes::list_artifacts::route(),
                routes::publish_artifact::route(),
                routes::get_artifact::route(),
                routes::star_artifact::route(),
            ])
            .migrations([Migration::new(1, "create", include_str!("../migrations/0001_create.sql"))])
            .publishes(&[model::ArtifactPublished::TYPE, model::ArtifactStarred::TYPE])
            .contributes(point::STATS, contributions::counters)
            .contributes_cached(point::LEADERBOARD, contributions::leaderboard)
            .contributes(point::DISCOVERY, contributions::discovery)
            .contributes(point::PAYLOAD_REFERENCES, contributions::mentioned)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, Refusal> {
        Ok(Self)
    }
}

export_plugin!(Artifacts);

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use plugin_api::manifest::{Auth, Manifest, RateLimit};

    pub fn manifest() -> Manifest {
        serde_json::from_slice(&(crate::plugin_module().manifest())().unwrap()).unwrap()
    }

    #[test]
    fn the_routes_are_those_of_the_specification() {
        let manifest = manifest();
        let routes: Vec<_> = manifest
            .routes
            .iter()
            .map(|route| (route.method.as_str(), route.path.as_str(), route.operation.as_str(), route.auth.action()))
            .collect();
        assert_eq!(
            routes,
            [
                ("GET", "/api/artifacts", "list_artifacts", None),
                ("POST", "/api/artifacts", "publish_artifact", Some("artifact.publish")),
                ("GET", "/api/artifacts/{id}", "get_artifact", None),
                ("POST", "/api/artifacts/{id}/star", "star_artifact", Some("artifact.star")),
            ]
        );
        assert_eq!(manifest.event_types, ["artifact.publish", "artifact.star"]);
    }

    #[test]
    fn every_write_is_guarded_and_shares_the_limit_of_the_commons() {
        for route in manifest().routes {
            let write = route.method == "POST";
            assert_eq!(matches!(route.auth, Auth::SignedBody { .. }), write, "{}", route.operation);
            let limits = if write { vec![RateLimit::commons_writes()] } else { Vec::new() };
            assert_eq!(route.rate_limits, limits, "{}", route.operation);
        }
    }
}
