//! Checks an audit export (`/api/agents/{id}/audit.jsonl`): everything that its footer states is computed again from its lines.
//!
//! The rule: nothing here is shared with what makes exports but libraries of hashes and signatures, so that a mistake is not made twice.
//! What the export says of itself is compared, never used: the signer must be one that the reader knows from elsewhere.
//!
//! ```
//! use gateway_audit_verify::{Expected, verify};
//!
//! let no_export = verify("{}\n", &Expected::default());
//! assert!(no_export.is_err(), "without a footer there is nothing to check");
//! ```

#![cfg_attr(not(test), warn(unreachable_pub))]

pub mod canonical;
mod checks;
mod document;
mod signature;
pub mod strict_json;

pub use checks::{AuditReport, Check, verify};
pub use document::NotAnExport;

pub use alloy_primitives::Address;

/// What the reader knows from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The gateway's key: `signer` of `/api/health`.
    pub signer: Option<Address>,
    pub agent_id: Option<u64>,
}
