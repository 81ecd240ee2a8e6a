//! `GET /api/health`: liveness, for probes. Small, and `ok` only while writes are kept and every required plugin serves.

use crate::document_context::DocumentContext;
use plugin_api::Address;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What the caller measured for this response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// Whether writes are kept, and every required plugin serves.
    pub ok: bool,
    /// `None` while no chain is configured or its RPC server does not respond.
    pub head: Option<u64>,
    pub indexed_block: Option<u64>,
    /// The signing key was generated at the start and will differ after the next one.
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
    /// What plugins add.
    #[serde(flatten)]
    pub contributed: Map<String, Value>,
}

/// `contributed` are members that plugins add to `v3`.
pub fn health(context: &DocumentContext<'_>, probe: ProbeResult, contributed: Map<String, Value>) -> Health {
    Health {
        ok: probe.ok,
        version: context.environment.gateway_version.clone(),
        chain_id: Some(context.environment.chain_id),
        head: probe.head.and_then(|head| i64::try_from(head).ok()).unwrap_or(-1),
        indexed_block: probe.indexed_block,
        registry: context.contract("registry"),
        escrow: context.contract("escrow"),
        signer: context.signer,
        signer_ephemeral: probe.signer_ephemeral,
        v3: deployment(context, contributed),
    }
}

fn deployment(context: &DocumentContext<'_>, mut contributed: Map<String, Value>) -> Deployment {
    // The gateway's own members stay what they are.
    for own in ["contracts", "deployBlock", "deployed"] {
        contributed.remove(own);
    }
    let mut contracts = context.chain.contracts.clone();
    contracts.retain(|name, _| name != "registry" && name != "escrow");
    let deployed = contracts.iter().filter(|(_, address)| address.is_some()).map(|(name, _)| name.clone()).collect();
    Deployment { contracts, deploy_block: context.chain.deploy_block, deployed, contributed }
}
