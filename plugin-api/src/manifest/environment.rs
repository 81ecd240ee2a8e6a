//! What a plugin may know about the gateway it runs in.

use crate::sdk::Address;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Constant for the life of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Version of the gateway.
    pub gateway_version: String,
    /// Public root without a trailing slash, for absolute links.
    pub base_url: String,
    pub chain_id: u64,
    pub brand: Brand,
    /// `sqlite` or `postgres`, for the rare statement that must differ.
    pub dialect: String,
    /// Development switch: the hosts that egress reaches although they are private.
    pub egress_allows_private: bool,
    /// Where the contracts of the chain `main` are, by their keys in the configuration. Those that are not deployed are absent.
    pub contracts: BTreeMap<String, Address>,
}

impl Environment {
    /// Where the contract is; `None` when it is not deployed. Case does not matter: environment variables know none.
    pub fn contract(&self, key: &str) -> Option<Address> {
        let found = self.contracts.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, address)| *address)
    }
}

/// Strings of the deployment that appear on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Brand {
    /// Name of the network; also the author name of the zero address.
    pub network_name: String,
    /// First line of a signed message.
    pub message_line: String,
    /// Beginning of the signed-read headers, for example `X-Service`.
    pub header_prefix: String,
    /// Name of the manifest marker and of `/.well-known/<marker>.json`.
    pub marker: String,
}

impl Default for Brand {
    fn default() -> Self {
        Self {
            network_name: "Service".into(),
            message_line: "Service Commons".into(),
            header_prefix: "X-Service".into(),
            marker: "service".into(),
        }
    }
}
