//! Names on the wire, which a deployment may change: scheme, network, asset, domain.

use crate::Config;
use plugin_api::Address;
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct Names {
    pub scheme: String,
    /// With the chain id, a CAIP-2 text: `service:3961`.
    pub network: String,
    pub asset: String,
    domain_name: String,
    chain_id: u64,
}

impl Names {
    pub fn new(config: &Config, chain_id: u64) -> Self {
        Self {
            scheme: config.scheme.clone(),
            network: format!("{}:{chain_id}", config.network),
            asset: config.asset.clone(),
            domain_name: config.domain_name.clone(),
            chain_id,
        }
    }

    /// The EIP-712 domain; with the zero address while no vault is deployed.
    pub fn domain(&self, vault: Option<Address>) -> Value {
        json!({
            "name": self.domain_name,
            "version": "1",
            "chainId": self.chain_id,
            "verifyingContract": vault.unwrap_or(Address::ZERO),
        })
    }
}
