//! `/.well-known/<marker>.json`: chain, contracts, endpoints, signing, limits, counters. The rule: agents configure
//! themselves from this document, so it lists only what this gateway serves.

use crate::{
    document_context::DocumentContext,
    merge::merge_missing,
    signing,
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
/// wallet's own machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletChain {
    /// Lower case and without leading zeros, as wallets compare it with `eth_chainId`.
    pub chain_id: String,
    pub chain_name: String,
    pub rpc_urls: Vec<String>,
    pub native_currency: Currency,
    /// Not there while the operator has named none: wallets refuse a chain whose list is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
pub fn manifest(context: &DocumentContext<'_>) -> Value {
    let mut document = Map::from_iter([(context.environment.brand.marker.clone(), Value::from(1))]);
    if let Ok(Value::Object(members)) = serde_json::to_value(members(context)) {
        document.extend(members);
    }
    for (_, discovery) in context.discovery {
        merge_missing(&mut document, &discovery.manifest);
    }
    Value::Object(document)
}

fn members(context: &DocumentContext<'_>) -> ServiceManifest {
    let chain = context.chain;
    ServiceManifest {
        version: context.environment.gateway_version.clone(),
        name: context.title(),
        description: context.description(),
        chain_id: context.environment.chain_id,
        currency: currency(context),
        rpc: context.rpc_urls().into_iter().next(),
        explorer: chain.explorer.clone(),
        wallet: context.web.map(str::to_owned),
        block_time_seconds: chain.block_time_s,
        consensus: chain.consensus.clone(),
        evm: chain.evm.clone(),
        contracts: chain.contracts.clone(),
        v3_deploy_block: chain.deploy_block,
        signer: context.signer,
        web: context.web.map(str::to_owned),
        gateway: context.environment.base_url.clone(),
        generated_at: context.now_s,
        endpoints: context.endpoints(),
        webhook_events: Vec::new(),
        downloads: downloads(context),
        wallet_add_ethereum_chain: wallet_chain(context),
        signing: signing_info(context),
        limits: limits(context),
        live: Live { stats: stats::manifest_stats(context.counters) },
    }
}

fn currency(context: &DocumentContext<'_>) -> Currency {
    let chain = context.chain;
    Currency { name: chain.currency_name.clone(), symbol: chain.symbol.clone(), decimals: chain.decimals }
}

fn downloads(context: &DocumentContext<'_>) -> Downloads {
    let mut docs = context.endpoints();
    docs.retain(|name, _| matches!(name.as_str(), "openapi" | "llms" | "docs" | "changelog"));
    Downloads { docs, ..Default::default() }
}

fn wallet_chain(context: &DocumentContext<'_>) -> WalletChain {
    let accepted = |urls: Vec<String>| urls.into_iter().filter(|url| is_accepted_by_wallets(url)).collect();
    WalletChain {
        chain_id: format!("{:#x}", context.environment.chain_id),
        chain_name: context.chain.name.clone(),
        rpc_urls: accepted(context.rpc_urls()),
        native_currency: currency(context),
        block_explorer_urls: accepted(context.chain.explorer.iter().cloned().collect()),
    }
}

/// Wallets refuse URLs whose traffic others could read.
fn is_accepted_by_wallets(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

fn signing_info(context: &DocumentContext<'_>) -> Signing {
    let brand = &context.environment.brand;
    Signing {
        scheme: signing::SCHEME.into(),
        message: signing::message_template(brand),
        actions: context.actions().into_iter().map(str::to_owned).collect(),
        ts_window_seconds: context.limits.ts_window_s,
        signed_reads: signing::signed_reads(brand),
    }
}

fn limits(context: &DocumentContext<'_>) -> Map<String, Value> {
    let mut limits = Map::from_iter([
        ("writesPerSecondPerAddress".to_owned(), writes_per_second(context.limits.write_interval_ms)),
        ("writeIntervalMs".to_owned(), context.limits.write_interval_ms.into()),
        ("writesPerIpPerMinute".to_owned(), context.limits.writes_per_ip_per_minute.into()),
        ("bodyBytes".to_owned(), context.limits.body_bytes_max.into()),
    ]);
    for plugin in context.plugins {
        merge_missing(&mut limits, &plugin.limits);
    }
    limits
}

/// An integer where the interval divides a second; null without a limit.
fn writes_per_second(interval_ms: u64) -> Value {
    match interval_ms {
        0 => Value::Null,
        interval_ms if 1000 % interval_ms == 0 => (1000 / interval_ms).into(),
        interval_ms => json!(1000.0 / interval_ms as f64),
    }
}
