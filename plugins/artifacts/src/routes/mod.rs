//! One file per route, named after its operation.

pub mod get_artifact;
pub mod list_artifacts;
pub mod publish_artifact;
pub mod star_artifact;
