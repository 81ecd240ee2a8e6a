//! The response: the releases that the query selects.

use super::{parser, query::ChangelogQuery, release::Release, version};
use crate::{document_context::DocumentContext, paths};
use jiff::{civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::LazyLock;

/// The file itself, for `format=markdown`.
pub const MARKDOWN: &str = include_str!("../../../../CHANGELOG.md");

static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| parser::parse_releases(MARKDOWN));

/// Releases, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Changelog {
    pub items: Vec<Release>,
    /// Releases that the question matches, beyond `limit` too.
    pub total: usize,
    /// The newest release with a date.
    pub latest: Option<LatestRelease>,
    /// The question's `since`.
    pub since: Option<String>,
    /// Unix seconds: the day of the newest release; null before the first.
    pub updated_at: Option<i64>,
    /// Whether this gateway carries a changelog.
    pub present: bool,
    /// Where the whole text is.
    pub source: String,
    /// How to ask.
    pub how: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LatestRelease {
    pub version: String,
    pub date: String,
}

pub fn changelog(context: &DocumentContext<'_>, query: &ChangelogQuery) -> Changelog {
    select_releases(&RELEASES, query, context.url(&format!("{}?format=markdown", paths::CHANGELOG)))
}

/// The response for any text of that format.
#[cfg(test)]
pub fn from_markdown(markdown: &str, query: &ChangelogQuery, source: String) -> Changelog {
    select_releases(&parser::parse_releases(markdown), query, source)
}

fn select_releases(releases: &[Release], query: &ChangelogQuery, source: String) -> Changelog {
    let matching: Vec<_> = releases.iter().filter(|release| query.matches(release)).collect();
    let latest = latest_release(releases);
    Changelog {
        total: matching.len(),
        items: matching.into_iter().take(query.limit).cloned().collect(),
        updated_at: latest.as_ref().and_then(|latest| midnight_s(&latest.date)),
        latest,
        since: query.since.clone(),
        present: !releases.is_empty(),
        source,
        how: "since=<version you integrated against, or YYYY-MM-DD> answers what is newer, and always what is unreleased; \
              format=markdown answers the file"
            .into(),
    }
}

fn latest_release(releases: &[Release]) -> Option<LatestRelease> {
    let dated = releases.iter().filter_map(|release| Some((release, release.date.clone()?)));
    let newest = dated.max_by(|(a, _), (b, _)| version::compare(&a.version, &b.version));
    newest.map(|(release, date)| LatestRelease { version: release.version.clone(), date })
}

fn midnight_s(day: &str) -> Option<i64> {
    let day: Date = day.parse().ok()?;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}
