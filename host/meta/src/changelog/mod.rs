//! `GET /api/changelog`: the releases of CHANGELOG.md, for clients that ask what changed since they integrated.

mod document;
mod parser;
mod query;
mod release;
mod version;

#[cfg(test)]
pub use document::from_markdown;
pub use document::{Changelog, LatestRelease, MARKDOWN, changelog};
pub use query::{Format, LIMIT_DEFAULT, LIMIT_MAX, Query, SINCE_PATTERN};
pub use release::{Change, ChangeType, Release};
