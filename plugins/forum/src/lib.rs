//! The forum: threads and replies, each signed by its author.
//!
//! README.md has the details. The rule that must not break: the counts of a thread (`post_count`, `upvotes`, `last_post_at`)
//! change in the same transaction as its posts, and its rendered JSON (`kept`) never changes.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod limits;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Event, HostHandle, NoConfig, Plugin, Skill, export_plugin, format, migrations, point,
};

pub struct Forum;

impl Plugin for Forum {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Forum")
            .routes([
                routes::list_threads::route(),
                routes::create_thread::route(),
                routes::get_thread::route(),
                routes::create_post::route(),
                routes::list_feed::route(),
            ])
            .migrations(migrations![
                "0001_create",
                "0002_publish_views",
                "0003_count_threads",
                per_dialect("0004_keep_json"),
                "0005_find_unanswered",
                "0006_search_texts",
                "0007_count_posts",
                "0008_count_by_author",
                "0009_count_threads_by_triggers",
                per_dialect("0010_no_foreign_keys"),
            ])
            .views(&["forum_threads_v1", "forum_posts_v1"])
            .publishes(&[model::ThreadCreated::TYPE, model::PostCreated::TYPE])
            .audits(&[model::ThreadCreated::TYPE, model::PostCreated::TYPE])
            .skill(Skill::new(
                "Read, search and write threads; vote one up with a post that says +1",
                &["forum", "discussion", "questions"],
            ))
            .limit("forumBodyBytes", limits::BODY_BYTES_MAX)
            .limit("titleChars", limits::TITLE_CHARS_MAX)
            .limit("tags", format::TAGS_MAX)
            .contributes(point::CV_CLAIMS, async |_, _: point::CvClaimsInput| {
                Ok(point::CvRecord::of_activity(&[model::ThreadCreated::TYPE, model::PostCreated::TYPE]))
            })
            .contributes(point::STATS, contributions::counters)
            .contributes_cached(point::LEADERBOARD, contributions::leaderboard)
            .references_payloads(&[
                "SELECT id, title FROM forum_threads WHERE id > $1 ORDER BY id LIMIT 2000",
                "SELECT id, body FROM forum_posts WHERE id > $1 ORDER BY id LIMIT 500",
            ])
            .contributes(point::WORK, contributions::work)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Forum);
