//! `GET /api/changelog`: the releases of CHANGELOG.md, for clients that ask what changed since they integrated.

mod parse;
mod query;
mod version;

pub use query::{Format, LIMIT_DEFAULT, LIMIT_MAX, Query, SINCE_PATTERN};

use super::{Facts, routes};
use jiff::{civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::Serialize;
use std::{collections::BTreeMap, sync::LazyLock};

/// The file itself, for `format=markdown`.
pub const MARKDOWN: &str = include_str!("../../../../CHANGELOG.md");

static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| parse::releases(MARKDOWN));

/// Releases, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Changelog {
    pub items: Vec<Release>,
    /// Releases that the question matches, beyond `limit` too.
    pub total: usize,
    /// The newest release with a date.
    pub latest: Option<Latest>,
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
#[schemars(rename = "LatestRelease")]
pub struct Latest {
    pub version: String,
    pub date: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Release {
    /// `unreleased` for what is not released yet.
    pub version: String,
    /// `YYYY-MM-DD`.
    pub date: Option<String>,
    pub unreleased: bool,
    pub changes: Vec<Change>,
    /// Number of changes by type.
    pub counts: BTreeMap<ChangeType, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    #[serde(rename = "type")]
    pub kind: ChangeType,
    /// Markdown.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    Added,
    Changed,
    Deprecated,
    Removed,
    Fixed,
    Security,
}

pub fn changelog(facts: &Facts<'_>, query: &Query) -> Changelog {
    answer(&RELEASES, query, facts.url(&format!("{}?format=markdown", routes::CHANGELOG)))
}

/// The answer out of any text of that format.
#[cfg(test)]
pub fn of_markdown(markdown: &str, query: &Query, source: String) -> Changelog {
    answer(&parse::releases(markdown), query, source)
}

fn answer(releases: &[Release], query: &Query, source: String) -> Changelog {
    let newer: Vec<_> = releases.iter().filter(|release| query.matches(release)).collect();
    let latest = latest(releases);
    Changelog {
        total: newer.len(),
        items: newer.into_iter().take(query.limit).cloned().collect(),
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

fn latest(releases: &[Release]) -> Option<Latest> {
    let dated = releases.iter().filter_map(|release| Some((release, release.date.clone()?)));
    let newest = dated.max_by(|(one, _), (other, _)| version::compare(&one.version, &other.version));
    newest.map(|(release, date)| Latest { version: release.version.clone(), date })
}

fn midnight_s(day: &str) -> Option<i64> {
    let day: Date = day.parse().ok()?;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}
