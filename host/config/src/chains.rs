//! `[chains.<name>]`: the chains that the gateway reads. Rule: an address of an RPC server may hold a key, so it is never
//! printed; `gateway-chain` shows its scheme and host.

use std::collections::BTreeMap;

use plugin_api::Address;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

use super::validator::{self, Validator};

/// The chain that contracts, agents and jobs are on.
pub const MAIN: &str = "main";

/// The contracts of the network. Each is published to clients, with null for those that are not deployed.
const NETWORK_CONTRACTS: [&str; 13] = [
    "registry",
    "escrow",
    "x402Vault",
    "accountFactory",
    "accountImpl",
    "streamPay",
    "arbiterPool",
    "identity8004",
    "reputation8004",
    "validation8004",
    "tokenFactory",
    "memoryAnchor",
    "endorsements",
];

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
    /// Label of the chain in wallets. Default: the `network_name` at the top.
    #[schemars(example = &"Service Network")]
    pub label: Option<String>,
    /// Name of the coin that gas is paid with. It has 18 decimals.
    #[schemars(example = &"FMX")]
    pub currency_name: String,
    /// Its symbol.
    #[schemars(example = &"FMX")]
    pub currency_symbol: String,
    /// How blocks are agreed on, for people.
    #[schemars(example = &"Clique PoA")]
    pub consensus: String,
    /// Rules of its virtual machine, for people.
    #[schemars(example = &"paris (no PUSH0)")]
    pub evm: String,
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
            label: None,
            currency_name: "FMX".to_owned(),
            currency_symbol: "FMX".to_owned(),
            consensus: "Clique PoA".to_owned(),
            evm: "paris (no PUSH0)".to_owned(),
            block_time_s: 7,
            public_rpc: None,
            explorer: None,
            contracts: BTreeMap::new(),
        }
    }
}

impl ChainConfig {
    /// The address of the contract; `None` when it is not deployed. Case does not matter, because names of variables have none.
    pub fn contract(&self, key: &str) -> Option<Address> {
        let contract = self.contracts.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        contract.map(|(_, address)| *address).filter(|address| *address != Address::ZERO)
    }

    /// The contracts that are deployed, those of the network under the names above.
    pub fn deployed_contracts(&self) -> BTreeMap<String, Address> {
        self.published_contracts().into_iter().filter_map(|(key, address)| Some((key, address?))).collect()
    }

    /// The contracts that clients see: those of the network and those that an operator added.
    pub fn published_contracts(&self) -> BTreeMap<String, Option<Address>> {
        let is_known = |key: &&String| NETWORK_CONTRACTS.iter().any(|known| known.eq_ignore_ascii_case(key));
        let added = self.contracts.keys().filter(|key| !is_known(key)).map(String::as_str);
        NETWORK_CONTRACTS.into_iter().chain(added).map(|key| (key.to_owned(), self.contract(key))).collect()
    }

    pub(super) fn validate(&self, name: &str, network_chain_id: u64, validator: &mut Validator<'_>) {
        let key = |key: &str| format!("chains.{name}.{key}");
        if !validator::is_section_name(name) {
            let hint = "names are lower-case letters, digits and single underscores, beginning with a letter";
            validator.refuse(&format!("chains.{name}"), format!("{name:?} cannot be the name of a chain"), hint);
        }
        if self.rpc.is_empty() {
            let hint = "write rpc = [\"http://127.0.0.1:8545\"], or remove the section";
            validator.refuse(&key("rpc"), "no RPC server is named".to_owned(), hint);
        }
        for (position, url) in (1..).zip(&self.rpc) {
            if !has_scheme(url.expose_secret(), &["http", "https"]) {
                let message = format!("the address at place {position} is no http or https URL");
                validator.refuse(&key("rpc"), message, "write scheme and host, such as http://127.0.0.1:8545");
            }
            if self.rpc.iter().take(position - 1).any(|earlier| is_same_server(earlier, url)) {
                let message = format!("the address at place {position} is in the list before");
                let hint = "name each server once: two must agree about money, and one would agree with itself";
                validator.refuse(&key("rpc"), message, hint);
            }
        }
        if self.ws.as_ref().is_some_and(|url| !has_scheme(url.expose_secret(), &["ws", "wss"])) {
            let hint = "write scheme and host, such as ws://127.0.0.1:8545";
            validator.refuse(&key("ws"), "it is no ws or wss URL".to_owned(), hint);
        }
        for (name, url) in [("public_rpc", &self.public_rpc), ("explorer", &self.explorer)] {
            let Some(url) = url else { continue };
            if !has_scheme(url, &["http", "https"]) {
                validator.refuse(&key(name), "it is no http or https URL".to_owned(), "write scheme and host");
            } else if has_user(url) {
                let hint = "write an address that anyone may use";
                validator.refuse(
                    &key(name),
                    "it holds a user or a password, and everybody is told it".to_owned(),
                    hint,
                );
            }
        }
        validator.check_one_line(&key("label"), self.label.as_deref().unwrap_or("-"));
        validator.check_one_line(&key("currency_name"), &self.currency_name);
        validator.check_one_line(&key("currency_symbol"), &self.currency_symbol);
        validator.check_one_line(&key("consensus"), &self.consensus);
        validator.check_one_line(&key("evm"), &self.evm);
        if self.chain_id.is_none() && name != MAIN {
            let hint = "write the chain id, such as chain_id = 56: a server of another chain is then noticed";
            validator.refuse(&key("chain_id"), "it is missing".to_owned(), hint);
        }
        if name == MAIN && self.chain_id.is_some_and(|chain_id| chain_id != network_chain_id) {
            let message = format!("it is not the chain_id at the top ({network_chain_id})");
            validator.refuse(
                &key("chain_id"),
                message,
                "clients are told one chain id: set both to it, or remove this one",
            );
        }
        if self.confirmations > self.reorg_depth {
            let message = format!("{} is more than {} ({})", self.confirmations, key("reorg_depth"), self.reorg_depth);
            validator.refuse(&key("confirmations"), message, "lower it, or raise reorg_depth");
        }
    }
}

fn is_same_server(one: &SecretString, other: &SecretString) -> bool {
    let parsed = |url: &SecretString| Url::parse(url.expose_secret()).ok();
    parsed(one).is_some_and(|one| parsed(other) == Some(one))
}

fn has_scheme(text: &str, schemes: &[&str]) -> bool {
    Url::parse(text).is_ok_and(|url| schemes.contains(&url.scheme()) && url.has_host())
}

fn has_user(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| !url.username().is_empty() || url.password().is_some())
}
