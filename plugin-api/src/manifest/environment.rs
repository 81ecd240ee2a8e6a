//! The environment of a plugin: constants of the gateway and its deployment.

use crate::values::Address;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Constant for the life of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Version of the gateway.
    pub gateway_version: String,
    /// Public root without a trailing slash, for absolute links.
    pub base_url: String,
    /// Root of the pages for people, without a trailing slash; `None` where nobody serves any.
    pub web_url: Option<String>,
    pub chain_id: u64,
    pub brand: Brand,
    /// `sqlite` or `postgres`, for statements that must differ.
    pub dialect: String,
    /// Development switch: whether egress may reach private hosts.
    pub egress_allows_private: bool,
    /// When the database was last restored from a backup, in Unix seconds; `None` where it never was. What was written between
    /// the backup and this time is lost, so a promise of that time may be met a second time.
    pub restored_s: Option<i64>,
    /// Addresses of the contracts of the chain `main`, by their keys in the configuration. Contracts that are not deployed are
    /// absent.
    pub contracts: BTreeMap<String, Address>,
    /// Chain ids of all chains of the configuration, by their names there.
    pub chain_ids: BTreeMap<String, u64>,
    /// Addresses of the keys that this gateway has, of all roles. The wallets of the load test are not among them: see
    /// [`crate::point::LABELLED_ADDRESSES`].
    pub signer_addresses: BTreeSet<Address>,
}

impl Environment {
    /// The address of the contract; `None` when it is not deployed. Ignores case, because environment variables have none.
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
