//! `GET /api/changelog`: the releases of CHANGELOG.md, for clients that ask what changed since they integrated.

mod document;
mod parser;
mod query;
mod release;
mod version;

#[cfg(test)]
pub(crate) use document::from_markdown;
pub use document::{Changelog, MARKDOWN, changelog};
pub use query::{ChangelogQuery, Format};
pub(crate) use query::{LIMIT_DEFAULT, LIMIT_MAX, SINCE_PATTERN};
#[cfg(test)]
pub(crate) use release::ChangeType;
