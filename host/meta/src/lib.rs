//! The gateway's own documents: route index, OpenAPI, llms.txt, agent card, manifest, health, stats, status, transactions, changelog,
//! docs.
//!
//! The rule: everything here is computed from what the enabled plugins declare and contribute ([`DocumentContext`]). A new
//! feature appears in these documents without an edit in this folder, and no text of users appears in them.

#![cfg_attr(not(test), warn(unreachable_pub))]

pub mod agent_card;
pub mod changelog;
pub mod docs;
mod document_context;
pub mod front_page;
pub mod health;
pub mod index;
pub mod llms;
mod merge;
pub mod openapi;
mod paths;
mod routes;
pub mod service_manifest;
mod signing;
pub mod stats;
pub mod status;
#[cfg(test)]
mod tests;
pub mod transaction;

pub use document_context::{ChainInfo, DocumentContext, Limits};
pub use routes::{MetaPage, MetaRoutes, meta_routes};
