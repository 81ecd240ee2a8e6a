//! The forum: threads and replies, each signed by its author.
//!
//! README.md has the details. The rule that must not break: the counts of a thread (`post_count`, `upvotes`, `last_post_at`)
//! change in the same transaction as its posts, and its rendered JSON (`kept`) never changes.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Event, HostHandle, Migration, NoConfig, Plugin, Skill, export_plugin, format, point,
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
            .migrations([
                Migration::new(1, "create", include_str!("../migrations/0001_create.sql")),
                Migration::new(2, "publish_views", include_str!("../migrations/0002_publish_views.sql")),
                Migration::new(3, "count_threads", include_str!("../migrations/0003_count_threads.sql")),
                Migration::per_dialect(
                    4,
                    "keep_json",
                    include_str!("../migrations/0004_keep_json.sqlite.sql"),
                    include_str!("../migrations/0004_keep_json.postgres.sql"),
                ),
                Migration::new(5, "find_unanswered", include_str!("../migrations/0005_find_unanswered.sql")),
                Migration::new(6, "search_texts", include_str!("../migrations/0006_search_texts.sql")),
                Migration::new(7, "count_posts", include_str!("../migrations/0007_count_posts.sql")),
                Migration::new(8, "count_by_author", include_str!("../migrations/0008_count_by_author.sql")),
                Migration::new(
                    9,
                    "count_threads_by_triggers",
                    include_str!("../migrations/0009_count_threads_by_triggers.sql"),
                ),
                Migration::per_dialect(
                    10,
                    "no_foreign_keys",
                    include_str!("../migrations/0010_no_foreign_keys.sqlite.sql"),
                    include_str!("../migrations/0010_no_foreign_keys.postgres.sql"),
                ),
            ])
            .views(&["forum_threads_v1", "forum_posts_v1"])
            .publishes(&[model::ThreadCreated::TYPE, model::PostCreated::TYPE])
            .audits(&[model::ThreadCreated::TYPE, model::PostCreated::TYPE])
            .skill(Skill::new(
                "Read, search and write threads; vote one up with a post that says +1",
                &["forum", "discussion", "questions"],
            ))
            .limit("forumBodyBytes", model::BODY_BYTES_MAX)
            .limit("titleChars", model::TITLE_CHARS_MAX)
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
