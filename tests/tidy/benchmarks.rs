//! BENCHMARKS.md: every section says which version it measured, and none is older than the last release.

use crate::repository::{assert_none, read};

type Version = Vec<u32>;

fn version(text: &str) -> Option<Version> {
    text.split('.').map(|part| part.parse().ok()).collect::<Option<Version>>().filter(|parts| parts.len() == 3)
}

/// The newest release of a changelog, whose releases are `## [1.2.3] - date`, the newest first.
fn last_release(changelog: &str) -> Option<Version> {
    let titles = changelog.lines().filter_map(|line| line.strip_prefix("## ["));
    titles.filter_map(|title| title.split(']').next()).find_map(version)
}

/// The version in the line `*Gateway 1.2.3 at COMMIT, …*` below a table.
fn measured(section: &str) -> Option<Version> {
    let stamp = section.lines().rev().find_map(|line| line.strip_prefix("*Gateway "))?;
    let (number, rest) = stamp.split_once(" at ")?;
    let commit = rest.split([' ', ',']).next().filter(|commit| commit.len() >= 7)?;
    commit.chars().all(|digit| digit.is_ascii_hexdigit()).then(|| version(number))?
}

fn outdated(benchmarks: &str, release: Option<&Version>) -> Vec<String> {
    let sections = benchmarks.split("\n## ").skip(1);
    let is_outdated =
        |section: &&str| measured(section).is_none_or(|version| release.is_some_and(|last| version < *last));
    sections.filter(is_outdated).filter_map(|section| section.lines().next()).map(ToOwned::to_owned).collect()
}

#[test]
fn no_benchmark_is_older_than_the_last_release() {
    let outdated = outdated(&read("BENCHMARKS.md"), last_release(&read("CHANGELOG.md")).as_ref());
    assert_none("measure these again with `cargo xtask bench JOB --write`, or `cargo xtask abuse`", &outdated);
}

#[test]
fn a_section_without_version_or_of_an_old_one_is_found() {
    let file = "# Benchmarks\n\n## New\n\n*Gateway 0.7.0 at a0f4cd4, now.*\n\n## Old\n\n*Gateway 0.6.9 at a0f4cd4, then.*\n\n\
                ## Unknown\n\ntable\n\n## Of no commit\n\n*Gateway 0.7.0 at , now.*\n";
    let release =
        last_release("# Changelog\n\n## [Unreleased]\n\n## [0.7.0] - 2026-11-24\n\n## [0.6.0] - 2026-11-01\n");
    assert_eq!(release, Some(vec![0, 7, 0]));
    assert_eq!(outdated(file, release.as_ref()), ["Old", "Unknown", "Of no commit"]);
}
