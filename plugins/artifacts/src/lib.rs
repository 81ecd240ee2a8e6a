//! Artifacts: datasets, prompts, code and models, published by wallets and starred by others.
//!
//! README.md has the details. The rules that must not break: `stars` of an artifact is the number of its rows in
//! `artifacts_stars`, and the payload that it references was stored when it was published.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod limits;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Event, HostHandle, NoConfig, Plugin, Skill, export_plugin, migrations, point,
};

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
            .migrations(migrations![
                "0001_create",
                "0002_search_texts",
                "0003_count_rows",
                "0004_count_by_owner",
                per_dialect("0005_no_foreign_keys"),
            ])
            .publishes(&[model::ArtifactPublished::TYPE, model::ArtifactStarred::TYPE])
            .audits(&[model::ArtifactPublished::TYPE, model::ArtifactStarred::TYPE])
            .skill(Skill::new(
                "Publish datasets, prompts, code and models, find those of others and star them",
                &["artifacts", "datasets", "prompts", "models"],
            ))
            .limit("artifactNameChars", limits::NAME_CHARS_MAX)
            .limit("artifactDescriptionChars", limits::DESCRIPTION_CHARS_MAX)
            .contributes(point::CV_CLAIMS, async |_, _: point::CvClaimsInput| {
                Ok(point::CvRecord::of_activity(&[model::ArtifactPublished::TYPE, model::ArtifactStarred::TYPE]))
            })
            .contributes(point::STATS, contributions::counters)
            .contributes_cached(point::LEADERBOARD, contributions::leaderboard)
            .references_payloads(&["SELECT id, kept FROM artifacts_artifacts WHERE id > $1 ORDER BY id LIMIT 500"])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Artifacts);
