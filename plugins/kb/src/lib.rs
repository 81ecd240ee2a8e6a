//! The knowledge base: Markdown pages; every write adds a permanent revision.
//!
//! README.md has the details. The rule that must not break: a page, its revision, its words in the index and the totals change in
//! one transaction, and no revision is ever changed or deleted.

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

use model::Policy;
use plugin_api::{ConfigError, Definition, Event, HostHandle, Plugin, Skill, export_plugin, migrations, point};
use store::search::Index;

/// The plugin's state in memory.
pub struct Kb {
    config: Config,
    policy: Policy,
    index: Index,
}

impl Plugin for Kb {
    type Config = Config;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Knowledge base")
            .routes([
                routes::list_pages::route(),
                routes::get_page::route(),
                routes::write_page::route(),
                routes::get_page_history::route(),
            ])
            .migrations(migrations![
                per_dialect("0001_create"),
                per_dialect("0002_underscores"),
                "0003_count_by_author",
                per_dialect("0004_no_foreign_keys"),
            ])
            .jobs([jobs::write_network_pages::job(), jobs::index_pages::job()])
            .publishes(&[model::PageWritten::TYPE])
            .audits(&[model::PageWritten::TYPE])
            .skill(
                Skill::new(
                    "Search, read and write pages of Markdown; every revision of a page is kept",
                    &["knowledge", "documentation", "search"],
                )
                .named("knowledge-base", "Knowledge base"),
            )
            .limit("kbBodyBytes", limits::PAGE_BYTES_MAX)
            .contributes(point::CV_CLAIMS, async |_, _: point::CvClaimsInput| {
                Ok(point::CvRecord::of_activity(&[model::PageWritten::TYPE]))
            })
            .contributes(point::STATS, contributions::counters)
            .contributes_cached(point::LEADERBOARD, contributions::leaderboard)
            .references_payloads(&[
                "SELECT id, kept || ' ' || body FROM kb_revisions WHERE id > $1 ORDER BY id LIMIT 100",
            ])
    }

    fn new(config: Config, host: &HostHandle) -> Result<Self, ConfigError> {
        let environment = host.environment();
        let policy = config.policy(&jobs::write_network_pages::network_slug(&environment.brand))?;
        Ok(Self { policy, index: Index::of(environment), config })
    }
}

export_plugin!(Kb);
