//! The commands of `gateway verify`, and what they check.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum VerifyCommand {
    /// Check an audit export of an agent: its lines and their order, the root, and every signature
    ///
    /// Needs no configuration and no gateway. Exit codes: 0 everything holds, 1 something does not, 3 the file cannot be read or is no
    /// export.
    Audit(AuditFile),
    /// Check the credential of an agent (AI-CV): its hashes, its signature, and each claim against the log that proves it
    ///
    /// Needs no configuration and no gateway, but a server of the chain. Exit codes: 0 valid, 1 forged, 2 stale or superseded (and a wrong
    /// command line), 3 not checkable.
    Cv(Credential),
}

/// A credential, and what is known of network and issuers from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Credential {
    /// The credential, as `/api/cv/{agent}/credential.json` answers it: its URL, a file, or - for standard input
    #[arg(value_name = "URL|FILE")]
    pub document: String,
    /// Servers of the chain (JSON-RPC): where there are two, they must agree
    #[arg(long, value_name = "URL", required = true, num_args = 1..)]
    pub rpc: Vec<String>,
    /// The network's contracts: a JSON object with `chainId` and an address for each of registry, escrow, identity8004 and so on
    #[arg(long, value_name = "FILE")]
    pub contracts: PathBuf,
    /// Whose signature counts beside that of the agent's owner: `signer` of a gateway that you trust
    #[arg(long, value_name = "ADDRESS", num_args = 1..)]
    pub issuer: Vec<gateway_cv_verify::Address>,
    /// The least that a claim must rest on to count: chain, gateway or self
    #[arg(long, value_name = "TRUST", default_value = "self")]
    pub trust: gateway_cv_verify::Trust,
    /// The name that signatures of this network are for
    #[arg(long, value_name = "NAME", default_value = gateway_cv_verify::Expected::DOMAIN_NAME)]
    pub domain: String,
}

/// An export, and what is known of it from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AuditFile {
    /// The export, as `/api/agents/{id}/audit.jsonl` answers it; - reads standard input
    pub file: PathBuf,
    /// Who must have signed it: `signer` of the gateway's `/api/health`
    #[arg(long, value_name = "ADDRESS")]
    pub signer: Option<gateway_audit_verify::Address>,
    /// The agent that it must be about
    #[arg(long, value_name = "ID")]
    pub agent: Option<u64>,
}
