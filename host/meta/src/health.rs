//! `GET /api/health`: whether the gateway lives. For probes: small, and true only while writes can be kept.

use super::Facts;
use plugin_api::Address;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What the caller found out just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    pub database_ok: bool,
    /// None while no chain is configured or its RPC does not answer.
    pub head: Option<u64>,
    pub indexed_block: Option<u64>,
    /// The signing key was made up at start and will be another one next time.
    pub signer_ephemeral: bool,
}

/// Liveness and place on the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Whether the gateway keeps what it is given.
    pub ok: bool,
    pub version: String,
    pub chain_id: Option<u64>,
    /// Newest block of the chain; -1 while the RPC does not answer or none is configured.
    pub head: i64,
    pub indexed_block: Option<u64>,
    /// Null while undeployed.
    pub registry: Option<Address>,
    /// Null while undeployed.
    pub escrow: Option<Address>,
    pub signer: Option<Address>,
    pub signer_ephemeral: bool,
    pub v3: Deployment,
}

/// The contracts beside registry and escrow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deployment {
    pub contracts: BTreeMap<String, Option<Address>>,
    pub deploy_block: Option<u64>,
    /// Names of the contracts that have an address.
    pub deployed: Vec<String>,
}

pub fn health(facts: &Facts<'_>, pulse: Pulse) -> Health {
    Health {
        ok: pulse.database_ok,
        version: facts.environment.gateway_version.clone(),
        chain_id: Some(facts.environment.chain_id),
        head: pulse.head.and_then(|head| i64::try_from(head).ok()).unwrap_or(-1),
        indexed_block: pulse.indexed_block,
        registry: facts.contract("registry"),
        escrow: facts.contract("escrow"),
        signer: facts.signer,
        signer_ephemeral: pulse.signer_ephemeral,
        v3: deployment(facts),
    }
}

fn deployment(facts: &Facts<'_>) -> Deployment {
    let mut contracts = facts.chain.contracts.clone();
    contracts.retain(|name, _| name != "registry" && name != "escrow");
    let deployed = contracts.iter().filter(|(_, address)| address.is_some()).map(|(name, _)| name.clone()).collect();
    Deployment { contracts, deploy_block: facts.chain.deploy_block, deployed }
}
