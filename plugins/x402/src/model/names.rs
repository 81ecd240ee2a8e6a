//! Names on the wire, which a deployment may change: scheme, network, asset, domain.

use crate::Config;
use alloy_primitives::U256;
use plugin_api::{Address, Hash256};
use serde_json::{Value, json};
use std::sync::OnceLock;

#[derive(Clone, Debug)]
pub struct Names {
    pub scheme: String,
    /// With the chain id, a CAIP-2 text: `service:3961`.
    pub network: String,
    pub asset: String,
    domain_name: String,
    chain_id: u64,
    /// Of the first vault that was asked for: a gateway has one, and each voucher's hash needs it.
    separator: OnceLock<(Address, Hash256)>,
}

impl Names {
    pub fn new(config: &Config, chain_id: u64) -> Self {
        Self {
            scheme: config.scheme.clone(),
            network: format!("{}:{chain_id}", config.network),
            asset: config.asset.clone(),
            domain_name: config.domain_name.clone(),
            chain_id,
            separator: OnceLock::new(),
        }
    }

    /// The hash of the EIP-712 domain of a vault.
    pub fn domain_separator(&self, vault: Address) -> Hash256 {
        let (known, separator) = *self.separator.get_or_init(|| (vault, self.separator_of(vault)));
        if known == vault { separator } else { self.separator_of(vault) }
    }

    fn separator_of(&self, vault: Address) -> Hash256 {
        let kind =
            Hash256::keccak(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
        let name = Hash256::keccak(self.domain_name.as_bytes());
        let chain_id = U256::from(self.chain_id).to_be_bytes::<32>();
        let words = [kind.0, name.0, Hash256::keccak(b"1").0, chain_id, address_word(vault)];
        Hash256::keccak(words.as_flattened())
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

/// An address as EIP-712 encodes it.
pub fn address_word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    let (_, low) = word.split_at_mut(12);
    low.copy_from_slice(&address.0);
    word
}
