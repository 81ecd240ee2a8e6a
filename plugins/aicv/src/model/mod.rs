//! Claims, their check, and the documents that are made of them: all without database and network.

mod agent;
mod anchor;
mod badge;
mod canonical;
mod check;
mod claim;
mod content;
mod context;
mod contracts;
mod document;
mod event;
mod form;
mod kinds;
mod links;
mod log;
mod proof;
mod summary;
mod tree;
mod typed_data;
mod vocabulary;

pub use agent::{Agent, GET_AGENT, Namesake, RegistryState};
pub use anchor::Anchor;
pub use badge::{Badge, Metric, Style, Theme};
pub use check::{CLAIM_LOGS_MAX, Checks, Refusal};
#[cfg(test)]
pub use claim::Claim;
pub use claim::{CheckedClaim, asserted, claim_id, state_evidence};
pub use content::{Content, Exclusion, INDEXING, Issue, Omitted, UNAVAILABLE};
pub use context::{context, schema};
pub use contracts::{Endorsed, EndorsementRevoked, MetadataSet};
pub use document::{Document, LIMIT_DEFAULT, LIMIT_MAX, Publisher};
pub use event::{EndorsementGiven, EndorsementTaken};
pub use form::complete;
pub use links::Served;
pub use log::StoredLog;
pub use proof::{SignedBy, proof, recipe};
pub use summary::{members_of, own_members, summary};
pub use typed_data::TypedData;
pub use vocabulary::{AGENT_STATE, CONTRIBUTION, DISPUTE, KINDS, Kind, SLASH};
