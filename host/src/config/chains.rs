//! `[chains.<name>]`: the chains that the gateway reads. Rule: an address of an RPC server may hold a key, so it is never
//! printed; [`crate::chain`] shows scheme and host of it.

use std::collections::BTreeMap;

use plugin_api::Address;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

use super::checks::Checks;

/// The chain that contracts, agents and jobs are on.
pub const MAIN: &str = "main";

/// One chain.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChainConfig {
    /// RPC servers, the preferred one first; when one fails or falls behind, the next one is asked.
    #[serde(skip_serializing)]
    #[schemars(with = "Vec<String>", extend("writeOnly" = true), example = "http://127.0.0.1:8545")]
    pub rpc: Vec<SecretString>,
    /// WebSocket address that announces new blocks; without it the servers are asked every `poll_ms`.
    #[serde(skip_serializing)]
    #[schemars(with = "Option<String>", extend("writeOnly" = true), example = "ws://127.0.0.1:8545")]
    pub ws: Option<SecretString>,
    /// Chain id; a server of another chain is not used. Default for `main`: the `chain_id` at the top.
    #[schemars(range(min = 1), example = 3961)]
    pub chain_id: Option<u64>,
    /// Blocks on top of an event's block before the event enters the activity log, which forgets nothing.
    #[schemars(range(min = 1, max = 4096))]
    pub confirmations: u64,
    /// Deepest reorganisation that is undone. A deeper one stops the indexes, which say so.
    #[schemars(range(min = 1, max = 4096))]
    pub reorg_depth: u64,
    /// First block that holds events of the contracts.
    #[schemars(example = 349_183)]
    pub deploy_block: Option<u64>,
    /// Time between two questions for the newest block.
    #[schemars(range(min = 10, max = 600_000))]
    pub poll_ms: u64,
    /// Time for an RPC server to answer.
    #[schemars(range(min = 10, max = 600_000))]
    pub timeout_ms: u64,
    /// Most blocks that one question for events spans; less where a server refuses that.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub range_blocks_max: u64,
    /// Usual time between two blocks, for clients.
    #[schemars(range(min = 1, max = 3600))]
    pub block_time_s: u32,
    /// RPC address that clients are told.
    #[schemars(example = "https://rpc.example")]
    pub public_rpc: Option<String>,
    /// Block explorer that clients are told.
    #[schemars(example = "https://explorer.example")]
    pub explorer: Option<String>,
    /// Addresses of contracts by the names that plugins know them by. The zero address means: not deployed.
    #[schemars(with = "BTreeMap<String, String>")]
    pub contracts: BTreeMap<String, Address>,
}

impl Default for ChainConfig {
    fn default() -> Self {
        Self {
            rpc: Vec::new(),
            ws: None,
            chain_id: None,
            confirmations: 3,
            reorg_depth: 64,
            deploy_block: None,
            poll_ms: 2000,
            timeout_ms: 10_000,
            range_blocks_max: 2000,
            block_time_s: 7,
            public_rpc: None,
            explorer: None,
            contracts: BTreeMap::new(),
        }
    }
}

impl ChainConfig {
    /// Where the contract is; `None` when it is not deployed. Case does not matter: variables know none.
    pub fn contract(&self, key: &str) -> Option<Address> {
        let found = self.contracts.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, address)| *address).filter(|address| *address != Address::ZERO)
    }

    pub(super) fn check(&self, name: &str, network: u64, checks: &mut Checks<'_>) {
        let key = |key: &str| format!("chains.{name}.{key}");
        if !is_name(name) {
            let hint = "names are lower-case letters, digits and single underscores, beginning with a letter";
            checks.refuse(&format!("chains.{name}"), format!("{name:?} cannot be the name of a chain"), hint);
        }
        if self.rpc.is_empty() {
            let hint = "write rpc = [\"http://127.0.0.1:8545\"], or remove the section";
            checks.refuse(&key("rpc"), "no RPC server is named".to_owned(), hint);
        }
        for (place, url) in (1..).zip(&self.rpc) {
            if !has_scheme(url.expose_secret(), &["http", "https"]) {
                let message = format!("the address at place {place} is no http or https URL");
                checks.refuse(&key("rpc"), message, "write scheme and host, such as http://127.0.0.1:8545");
            }
        }
        if self.ws.as_ref().is_some_and(|url| !has_scheme(url.expose_secret(), &["ws", "wss"])) {
            let hint = "write scheme and host, such as ws://127.0.0.1:8545";
            checks.refuse(&key("ws"), "it is no ws or wss URL".to_owned(), hint);
        }
        for (part, url) in [("public_rpc", &self.public_rpc), ("explorer", &self.explorer)] {
            if url.as_ref().is_some_and(|url| !has_scheme(url, &["http", "https"])) {
                checks.refuse(&key(part), "it is no http or https URL".to_owned(), "write scheme and host");
            }
        }
        if self.chain_id.is_none() && name != MAIN {
            let hint = "write the chain id, such as chain_id = 56: a server of another chain is then noticed";
            checks.refuse(&key("chain_id"), "it is missing".to_owned(), hint);
        }
        if name == MAIN && self.chain_id.is_some_and(|chain_id| chain_id != network) {
            let message = format!("it is not the chain_id at the top ({network})");
            checks.refuse(
                &key("chain_id"),
                message,
                "clients are told one chain id: set both to it, or remove this one",
            );
        }
        if self.confirmations > self.reorg_depth {
            let message = format!("{} is more than {} ({})", self.confirmations, key("reorg_depth"), self.reorg_depth);
            checks.refuse(&key("confirmations"), message, "lower it, or raise reorg_depth");
        }
    }
}

fn has_scheme(text: &str, schemes: &[&str]) -> bool {
    Url::parse(text).is_ok_and(|url| schemes.contains(&url.scheme()) && url.has_host())
}

/// It is a part of an environment variable, where `__` divides the levels.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(is_plain)
        && !name.contains("__")
        && !name.ends_with('_')
}
