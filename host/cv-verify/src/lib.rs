//! Verifies the credential of an agent (AI-CV): hashes, signature, and every claim against the log that proves it.
//!
//! The rules: nothing here is shared with what issues credentials but libraries of hashes and signatures, so that a mistake is not made
//! twice. Chain, contracts, domain and types are the verifier's own; what the document says of them is compared, never used.
//!
//! ```
//! use gateway_cv_verify::{Address, Expected, HttpRpc, Trust, Verdict, verify};
//!
//! # async fn example(credential: &[u8], contracts: &str, issuer: Address, now_s: i64) -> Result<(), Box<dyn std::error::Error>> {
//! let servers = [HttpRpc::new("https://rpc.network.example")?];
//! let expected = Expected {
//!     contracts: contracts.parse()?,
//!     issuers: vec![issuer],
//!     trust: Trust::Chain,
//!     domain_name: Expected::DOMAIN_NAME.to_owned(),
//!     now_s,
//! };
//! let report = verify(credential, &servers, &expected).await?;
//! for step in &report.steps {
//!     println!("{} {}: {:?} {}", step.n, step.name, step.outcome, step.detail);
//! }
//! assert_eq!(report.verdict, Verdict::Valid);
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), warn(unreachable_pub))]

mod abi;
mod aggregate;
mod cited;
mod claims;
mod document;
mod evidence;
mod expected;
mod hashes;
mod intact;
mod on_chain;
mod reader;
mod record;
mod report;
mod rpc;
mod rules;
mod signature;
mod state;
mod typed_data;
mod verify;

pub use alloy_primitives::Address;
pub use document::{CLAIMS_MAX, DOCUMENT_BYTES_MAX, NotACredential};
pub use expected::{Contracts, ContractsError, Expected, Trust};
pub use report::{ByTrust, CredentialReport, Finding, Jobs, ReadAt, StepOutcome, Verdict, VerificationStep};
pub use rpc::{HttpError, HttpRpc, Rpc, RpcError, fetch};
pub use verify::verify;

#[cfg(test)]
mod tests;
