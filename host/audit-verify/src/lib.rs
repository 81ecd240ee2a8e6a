//! Checks an audit export (`/api/agents/{id}/audit.jsonl`): everything that its footer states is computed again from its lines.
//!
//! The rule: nothing here is shared with what makes exports but libraries of hashes and signatures, so that a mistake is not made twice.
//! What the export says of itself is compared, never used: the signer must be one that the reader knows from elsewhere.
//!
//! The key is read once, from a place that one trusts, and kept: `signer` of the gateway's `/api/health`. The export is the body of
//! `GET /api/agents/7/audit.jsonl`.
//!
//! ```
//! use gateway_audit_verify::{Address, Expected, verify};
//!
//! # let export = r#"{"agentId":7,"args":{"bond":"100","id":"7"},"block":1,"contract":"registry","event":"BondChanged","kind":"chain","logIndex":0,"seq":1,"signer":"0x4a62316623ad457F02cDC5D997deD67a383EC569","ts":1767225607,"tx":"0x1111111111111111111111111111111111111111111111111111111111111111"}
//! # {"activityId":4,"actor":"0x0000000000000000000000000000000000000001","agentId":7,"data":{"title":"Hello"},"kind":"commons","ref":null,"seq":2,"signer":"0x4a62316623ad457F02cDC5D997deD67a383EC569","ts":1767225614,"type":"thread.create"}
//! # {"agentId":7,"filter":{},"leaves":2,"limit":1000,"merkleRoot":"0x3ee56b170d0b9531bf159a733522e822d813947fc843fea6c2de5e451aeb7409","owner":"0x0000000000000000000000000000000000000001","sig":"0x32e1ed04910d72196846182b3d2ce426b115893b71979d2d0c87f3c56d534f1f7b212e1ad0653dd4b55e101c03e39b03af56b6c2c198e6c2395c3ac8b17cf6fb1b","signedLines":false,"signer":"0x4a62316623ad457F02cDC5D997deD67a383EC569","sources":["activity","audit"],"truncated":false}
//! # "#;
//! let signer: Address = "0x4a62316623ad457F02cDC5D997deD67a383EC569".parse()?;
//! let expected = Expected { signer: Some(signer), agent_id: Some(7) };
//! let report = verify(export, &expected)?;
//! assert!(report.valid, "{:#?}", report.checks);
//! // Plugins that did not answer: their lines are not in the export, and it says so.
//! assert!(report.missing.is_empty());
//!
//! let forged = export.replace("\"bond\":\"100\"", "\"bond\":\"900\"");
//! let report = verify(&forged, &expected)?;
//! let failed: Vec<&str> = report.checks.iter().filter(|check| !check.ok).map(|check| check.name).collect();
//! assert_eq!((report.valid, failed), (false, vec!["root"]));
//!
//! // An export of somebody else's key is as whole as this one, and not what was expected.
//! let other = Expected { signer: Some(Address::ZERO), agent_id: Some(7) };
//! assert!(!verify(export, &other)?.valid);
//! assert!(verify("{}\n", &expected).is_err(), "without a footer there is nothing to check");
//! # Ok::<(), Box<dyn std::error::Error>>(())
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
