//! Extension points: what plugins contribute to them, collected and cached.

mod cache;
mod collect;

pub use cache::ContributionCache;
pub use collect::{Contribution, collect, contribution};
