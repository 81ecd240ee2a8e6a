//! The data that the documents are rendered from.

use crate::paths;
use plugin_api::{
    Address,
    manifest::{Environment, Manifest, RouteSpec},
    point::{Counters, Discovery},
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a document may show. Cheap to create: it only borrows.
#[derive(Clone, Copy, Debug)]
pub struct DocumentContext<'a> {
    pub environment: &'a Environment,
    /// The gateway's own routes and schemas; see [`crate::meta_routes`].
    pub gateway_manifest: &'a Manifest,
    /// The enabled plugins.
    pub plugins: &'a [&'a Manifest],
    pub chain: &'a ChainInfo,
    /// What plugins contributed to the point `discovery`, by plugin name: members of manifest and agent card.
    pub discovery: &'a [(String, Discovery)],
    /// See [`crate::stats::merge_counters`].
    pub counters: &'a Counters,
    /// Where people look at the network, if there is such a page.
    pub web: Option<&'a str>,
    /// The key that the gateway signs its own statements with.
    pub signer: Option<Address>,
    pub limits: &'a Limits,
    pub now_s: i64,
}

/// The chain as an operator configured it. Its id is in the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainInfo {
    /// Label of the network in wallets.
    pub name: String,
    /// Of the coin that pays for gas.
    pub currency_name: String,
    pub symbol: String,
    pub decimals: u8,
    /// Public RPC URL.
    pub rpc: Option<String>,
    pub explorer: Option<String>,
    pub block_time_s: u32,
    pub consensus: String,
    pub evm: String,
    /// By configuration key, for example `registry`; none while undeployed.
    pub contracts: BTreeMap<String, Option<Address>>,
    /// The first block that holds the contracts.
    pub deploy_block: Option<u64>,
}

/// Limits that the gateway itself enforces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    pub write_interval_ms: u64,
    pub writes_per_ip_per_minute: u32,
    pub body_bytes_max: u64,
    pub ts_window_s: u64,
}

/// The chain on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Chain")]
pub struct ChainView {
    pub chain_id: u64,
    pub name: String,
    pub symbol: String,
    pub decimals: u8,
    pub rpc: Option<String>,
    pub explorer: Option<String>,
    pub block_time_seconds: u32,
    pub consensus: String,
    pub evm: String,
}

impl<'a> DocumentContext<'a> {
    /// Absolute form of a path of this gateway.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.environment.base_url)
    }

    /// The service's name in titles.
    pub(crate) fn title(&self) -> String {
        format!("{} gateway", self.chain.name)
    }

    pub(crate) fn description(&self) -> String {
        let features: Vec<_> = self.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
        let enabled = if features.is_empty() { "none yet".to_owned() } else { features.join(", ") };
        format!(
            "HTTP gateway of {}, an economy of software agents on one EVM chain. Features: {enabled}.",
            self.chain.name
        )
    }

    /// The plugins, then the gateway itself.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = &'a Manifest> + use<'a> {
        self.plugins.iter().copied().chain([self.gateway_manifest])
    }

    pub(crate) fn routes(&self) -> impl Iterator<Item = &'a RouteSpec> + use<'a> {
        self.manifests().flat_map(|manifest| &manifest.routes)
    }

    /// Every action that a wallet may sign here.
    pub(crate) fn actions(&self) -> BTreeSet<&'a str> {
        self.routes().filter_map(|route| route.auth.action()).collect()
    }

    /// Named endpoints as URLs. The gateway's own names win over those of plugins, earlier plugins over later ones.
    pub(crate) fn endpoints(&self) -> BTreeMap<String, String> {
        let routes = self.plugins.iter().flat_map(|plugin| &plugin.routes);
        let declared = routes.filter_map(|route| Some((route.endpoint.as_ref()?, paths::template(&route.path))));
        let gateway_endpoints = paths::endpoints(&self.environment.brand.marker);
        let mut endpoints: BTreeMap<_, _> =
            gateway_endpoints.into_iter().map(|(name, path)| (name.to_owned(), self.url(&path))).collect();
        for (name, path) in declared {
            endpoints.entry(name.clone()).or_insert_with(|| self.url(&path));
        }
        endpoints
    }

    /// Where clients call the chain: what the operator says, then this gateway's own endpoint `rpc`, where it has one.
    pub(crate) fn rpc_urls(&self) -> Vec<String> {
        let own = self.endpoints().remove("rpc");
        let mut urls: Vec<String> = self.chain.rpc.iter().cloned().chain(own).collect();
        urls.dedup();
        urls
    }

    pub(crate) fn contract(&self, key: &str) -> Option<Address> {
        self.chain.contracts.get(key).copied().flatten()
    }

    pub(crate) fn chain_view(&self) -> ChainView {
        let chain = self.chain;
        ChainView {
            chain_id: self.environment.chain_id,
            name: chain.name.clone(),
            symbol: chain.symbol.clone(),
            decimals: chain.decimals,
            rpc: self.rpc_urls().into_iter().next(),
            explorer: chain.explorer.clone(),
            block_time_seconds: chain.block_time_s,
            consensus: chain.consensus.clone(),
            evm: chain.evm.clone(),
        }
    }
}
