//! The gateway's own documents: route index, OpenAPI, llms.txt, agent card, manifest, health, stats, status, changelog, docs.
//!
//! The rule: everything here is computed from what the enabled plugins declare and contribute ([`Facts`]). A new feature
//! shows up in these documents without an edit in this folder, and nothing that users wrote gets into them.

pub mod agent_card;
pub mod changelog;
pub mod docs;
mod facts;
pub mod health;
pub mod index;
pub mod llms;
mod merge;
pub mod openapi;
mod routes;
pub mod service_manifest;
mod signing;
pub mod stats;
pub mod status;
#[cfg(test)]
mod tests;

pub use facts::{ChainFacts, ChainView, Facts, Limits};
pub use routes::{MetaPage, OwnRoutes, own_routes};
