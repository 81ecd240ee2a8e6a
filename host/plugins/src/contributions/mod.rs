//! Extension points: what plugins contribute to them, collected and cached.

mod authors;
mod cache;
mod collect;

pub use authors::AuthorRecords;
pub use cache::ContributionCache;
pub use collect::{Contribution, collect, collect_from};
