//! Extension points: what plugins contribute to them, collected and cached.

mod authors;
mod cache;
mod cache_source;
mod collect;
mod extension_points;

pub use collect::Contribution;
pub use extension_points::ExtensionPoints;
