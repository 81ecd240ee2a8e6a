//! One file per route, named after its operation, and how a document comes about.

pub mod builds;
mod collected;
mod composed;
pub mod get_cv;
pub mod get_cv_badge;
pub mod get_cv_context;
pub mod get_cv_credential;
pub mod get_cv_schema;
pub mod get_cv_verification;
mod issue;
pub mod issue_cache;
mod own_claims;
mod plugins;
mod published;
mod readings;
mod sources;

pub use issue::publisher;

/// The role whose key signs credentials.
pub const SIGNER: &str = "gateway";

/// Calls of one client in a minute, for each route of documents.
const PER_MINUTE: u32 = 60;
