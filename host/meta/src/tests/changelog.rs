//! `GET /api/changelog`: every form of heading and bullet, both formats, the filters.

use super::fixture::GatewayFixture;
use crate::changelog::{self, ChangeType, ChangelogQuery, Format};
use rstest::rstest;

const FILE: &str = "\
# Changelog

Words before the first release.

## [Unreleased]

### Added

- Something new

## [0.10.0] - 2026-11-21

### Added
- A change
  that goes on
  - with a point below
* Another bullet

A paragraph that is no item.
    and its continuation

### Housekeeping
- Unknown headings count as changed

## [0.9.1] - 2026-10-01 [YANKED]
### Fixed
- A bug
### Security
- A hole

## 0.9.0 (2026-09-01)
- Without a heading

[0.10.0]: https://example.test/0.10.0
";

fn query_fixture(query: &str) -> serde_json::Value {
    let query = ChangelogQuery::parse(query).unwrap();
    serde_json::to_value(changelog::from_markdown(FILE, &query, "file".into())).unwrap()
}

fn versions(query: &str) -> Vec<String> {
    let answer = query_fixture(query);
    answer["items"].as_array().unwrap().iter().map(|item| item["version"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn reads_the_file() {
    insta::assert_json_snapshot!(query_fixture(""));
}

#[rstest]
#[case("", &["unreleased", "0.10.0", "0.9.1", "0.9.0"])]
#[case("since=", &["unreleased", "0.10.0", "0.9.1", "0.9.0"])]
#[case("since=0.9.0", &["unreleased", "0.10.0", "0.9.1"])]
#[case("since=v0.9.1", &["unreleased", "0.10.0"])]
#[case("since=0.9.1-rc.1", &["unreleased", "0.10.0", "0.9.1"])]
#[case("since=0.10.0", &["unreleased"])]
#[case("since=99", &["unreleased"])]
#[case("since=2026-10-01", &["unreleased", "0.10.0"])]
#[case("since=2026-09-30", &["unreleased", "0.10.0", "0.9.1"])]
#[case("since=2027-01-01", &["unreleased"])]
#[case("limit=1", &["unreleased"])]
#[case("limit=-5", &["unreleased"])]
#[case("limit=0", &["unreleased", "0.10.0", "0.9.1", "0.9.0"])]
#[case("limit=many", &["unreleased", "0.10.0", "0.9.1", "0.9.0"])]
#[case("limit=100000&format=json&other=1", &["unreleased", "0.10.0", "0.9.1", "0.9.0"])]
fn answers_what_is_newer(#[case] query: &str, #[case] expected: &[&str]) {
    assert_eq!(versions(query), expected);
}

#[test]
fn the_total_counts_beyond_the_limit() {
    let answer = query_fixture("since=0.9.0&limit=1");
    assert_eq!(answer["total"], 3);
    assert_eq!(answer["since"], "0.9.0");
    assert_eq!(answer["latest"]["version"], "0.10.0", "by value, not by text");
    assert_eq!(answer["updatedAt"], 1_795_219_200);
}

#[rstest]
#[case("since=0_9", "bad_since")]
#[case("since=%20", "bad_since")]
#[case("since=0.9%0A", "bad_since")]
#[case("since=123456789012345678901234567890123", "bad_since")]
#[case("since=%C3%A4", "bad_since")]
#[case("format=xml", "bad_format")]
#[case("format=JSON", "bad_format")]
fn refuses_what_it_does_not_know(#[case] query: &str, #[case] code: &str) {
    let problem = ChangelogQuery::parse(query).unwrap_err();
    assert_eq!((problem.status, problem.code.as_str()), (400, code));
    assert!(!problem.hint.is_empty());
}

#[test]
fn markdown_is_a_format() {
    assert_eq!(ChangelogQuery::parse("format=markdown").unwrap().format, Format::Markdown);
}

#[test]
fn an_empty_file_is_no_error() {
    let query = ChangelogQuery::parse("").unwrap();
    let answer = changelog::from_markdown("", &query, String::new());
    assert!(answer.items.is_empty() && !answer.present && answer.latest.is_none() && answer.updated_at.is_none());
}

/// The file at the root of the repository keeps the format.
#[test]
fn this_gateways_own_changelog_is_read() {
    let all = ChangelogQuery::parse("limit=100").unwrap();
    let answer = GatewayFixture::without_plugins().with_context(|context| changelog::changelog(context, &all));
    assert!(answer.present);
    assert_eq!(answer.source, "https://gateway.test/api/changelog?format=markdown");
    let headings = changelog::MARKDOWN.lines().filter(|line| line.starts_with("## ")).count();
    assert_eq!(answer.items.len(), headings);
    for release in &answer.items {
        assert!(release.unreleased || release.date.is_some(), "{} has no date", release.version);
        assert!(!release.changes.is_empty(), "{} says nothing", release.version);
        assert_eq!(release.counts.values().sum::<usize>(), release.changes.len());
    }
    assert!(answer.items.iter().any(|release| release.counts.contains_key(&ChangeType::Added)));
}

/// A client that integrated against this version asks what came since.
#[test]
fn this_version_is_a_release_of_the_file() {
    let version = env!("CARGO_PKG_VERSION");
    let asked = |query: &str| {
        let query = ChangelogQuery::parse(query).unwrap();
        GatewayFixture::without_plugins().with_context(|facts| changelog::changelog(facts, &query))
    };
    let names = |query: &str| asked(query).items.into_iter().map(|release| release.version).collect::<Vec<_>>();
    assert_eq!(asked("").latest.map(|latest| latest.version).as_deref(), Some(version));
    assert!(names("since=0.5.0").iter().any(|name| name == version), "it is newer than the one before");
    assert_eq!(names(&format!("since={version}")), ["unreleased"], "itself is left out, by its number");
    assert_eq!(names("since=0.10.0"), ["unreleased"], "10 is more than 6");
}
