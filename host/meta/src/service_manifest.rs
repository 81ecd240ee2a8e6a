//! `/.well-known/<marker>.json`: chain, contracts, endpoints, signing, limits, counters. The rule: agents configure
//! themselves from this document, so it says only what this gateway really serves.

use super::{
    Facts, merge, signing,
    stats::{self, Stats},
};
use plugin_api::Address;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use url::{Host, Url};

/// The members that every gateway has; plugins add more (for example `x402`), and the marker (`"service": 1`) comes first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Manifest")]
pub struct ServiceManifest {
    pub version: String,
    pub name: String,
    pub description: String,
    pub chain_id: u64,
    pub currency: Currency,
    pub rpc: Option<String>,
    pub explorer: Option<String>,
    /// Where people look at the network with a wallet.
    pub wallet: Option<String>,
    pub block_time_seconds: u32,
    pub consensus: String,
    pub evm: String,
    /// Addresses by name; null while undeployed.
    pub contracts: BTreeMap<String, Option<Address>>,
    #[serde(rename = "v3DeployBlock")]
    pub v3_deploy_block: Option<u64>,
    /// The key that signs the gateway's own statements.
    pub signer: Option<Address>,
    pub web: Option<String>,
    pub gateway: String,
    /// Unix seconds.
    pub generated_at: i64,
    /// URLs by name, of what is enabled here.
    pub endpoints: BTreeMap<String, String>,
    /// Events that webhooks deliver.
    pub webhook_events: Vec<String>,
    pub downloads: Downloads,
    pub wallet_add_ethereum_chain: WalletChain,
    pub signing: Signing,
    pub limits: Map<String, Value>,
    pub live: Live,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Currency {
    pub name: String,
    pub symbol: String,
    pub decimals: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Downloads {
    pub sdk: Option<String>,
    pub runtime: Option<String>,
    /// How to start a Model Context Protocol server for this gateway, where there is one.
    pub mcp: Option<Value>,
    /// Documents by name.
    pub docs: BTreeMap<String, String>,
}

/// The argument of `wallet_addEthereumChain` (EIP-3085). The lists hold only URLs that wallets take: https, and http on the
/// wallet's own machine. They are empty while the operator has named none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletChain {
    /// Lower case and without leading zeros, as wallets compare it with `eth_chainId`.
    pub chain_id: String,
    pub chain_name: String,
    pub rpc_urls: Vec<String>,
    pub native_currency: Currency,
    pub block_explorer_urls: Vec<String>,
}

/// How writes are signed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Signing {
    pub scheme: String,
    /// The text to sign, with its gaps.
    pub message: String,
    pub actions: BTreeSet<String>,
    pub ts_window_seconds: u64,
    pub signed_reads: signing::SignedReads,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Live {
    pub stats: Stats,
}

/// The whole document.
pub fn manifest(facts: &Facts<'_>) -> Value {
    let mut document = Map::from_iter([(facts.environment.brand.marker.clone(), Value::from(1))]);
    if let Ok(Value::Object(members)) = serde_json::to_value(members(facts)) {
        document.extend(members);
    }
    for (_, discovery) in facts.discovery {
        merge::fill(&mut document, &discovery.manifest);
    }
    Value::Object(document)
}

fn members(facts: &Facts<'_>) -> ServiceManifest {
    let chain = facts.chain;
    ServiceManifest {
        version: facts.environment.gateway_version.clone(),
        name: facts.title(),
        description: facts.description(),
        chain_id: facts.environment.chain_id,
        currency: currency(facts),
        rpc: chain.rpc.clone(),
        explorer: chain.explorer.clone(),
        wallet: facts.web.map(str::to_owned),
        block_time_seconds: chain.block_time_s,
        consensus: chain.consensus.clone(),
        evm: chain.evm.clone(),
        contracts: chain.contracts.clone(),
        v3_deploy_block: chain.deploy_block,
        signer: facts.signer,
        web: facts.web.map(str::to_owned),
        gateway: facts.environment.base_url.clone(),
        generated_at: facts.now_s,
        endpoints: facts.endpoints(),
        webhook_events: Vec::new(),
        downloads: downloads(facts),
        wallet_add_ethereum_chain: wallet_chain(facts),
        signing: signing_block(facts),
        limits: limits(facts),
        live: Live { stats: stats::manifest_stats(facts.counters) },
    }
}

fn currency(facts: &Facts<'_>) -> Currency {
    let chain = facts.chain;
    Currency { name: chain.currency_name.clone(), symbol: chain.symbol.clone(), decimals: chain.decimals }
}

fn downloads(facts: &Facts<'_>) -> Downloads {
    let mut docs = facts.endpoints();
    docs.retain(|name, _| matches!(name.as_str(), "openapi" | "llms" | "docs" | "changelog"));
    Downloads { docs, ..Default::default() }
}

fn wallet_chain(facts: &Facts<'_>) -> WalletChain {
    let taken = |url: &Option<String>| url.iter().filter(|url| is_taken(url)).cloned().collect();
    WalletChain {
        chain_id: format!("{:#x}", facts.environment.chain_id),
        chain_name: facts.chain.name.clone(),
        rpc_urls: taken(&facts.chain.rpc),
        native_currency: currency(facts),
        block_explorer_urls: taken(&facts.chain.explorer),
    }
}

/// Whether wallets take the URL: they refuse what others could listen to.
fn is_taken(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let is_own_machine = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_own_machine)
}

fn signing_block(facts: &Facts<'_>) -> Signing {
    let brand = &facts.environment.brand;
    Signing {
        scheme: signing::SCHEME.into(),
        message: signing::message_template(brand),
        actions: facts.actions().into_iter().map(str::to_owned).collect(),
        ts_window_seconds: facts.limits.ts_window_s,
        signed_reads: signing::signed_reads(brand),
    }
}

fn limits(facts: &Facts<'_>) -> Map<String, Value> {
    let mut limits = Map::from_iter([
        ("writesPerSecondPerAddress".to_owned(), writes_per_second(facts.limits.write_interval_ms)),
        ("writeIntervalMs".to_owned(), facts.limits.write_interval_ms.into()),
        ("writesPerIpPerMinute".to_owned(), facts.limits.writes_per_ip_per_minute.into()),
        ("bodyBytes".to_owned(), facts.limits.body_bytes_max.into()),
    ]);
    for (_, discovery) in facts.discovery {
        merge::fill(&mut limits, &discovery.limits);
    }
    limits
}

/// A whole number where the interval divides a second; null when there is no limit.
fn writes_per_second(interval_ms: u64) -> Value {
    match interval_ms {
        0 => Value::Null,
        interval_ms if 1000 % interval_ms == 0 => (1000 / interval_ms).into(),
        interval_ms => json!(1000.0 / interval_ms as f64),
    }
}
