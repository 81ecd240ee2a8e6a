//! `GET /api`: where everything is.

use super::{ChainView, Facts, openapi, routes};
use plugin_api::{Address, manifest::RouteSpec};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Links, chain and every route of this gateway.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouteIndex {
    pub name: String,
    pub version: String,
    pub description: String,
    pub start: Start,
    /// Root of this gateway.
    pub gateway: String,
    /// The key that signs the gateway's own statements.
    pub signer: Option<Address>,
    /// Where people look at the network.
    pub web: Option<String>,
    pub chain: ChainView,
    /// Addresses by name; null while undeployed.
    pub contracts: BTreeMap<String, Option<Address>>,
    pub openapi: String,
    pub llms: String,
    pub agent_card: String,
    pub manifest: String,
    /// How a Model Context Protocol client connects, where that is possible.
    pub mcp: Option<String>,
    pub routes: Vec<RouteLine>,
}

/// Where to begin. A member is there when its route is: the first three come with plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_feed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faucet: Option<String>,
    pub status: String,
    pub changelog: String,
    /// A page on which every route can be tried.
    pub playground: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RouteIndexLine")]
pub struct RouteLine {
    pub method: String,
    pub path: String,
    pub summary: String,
}

pub fn index(facts: &Facts<'_>) -> RouteIndex {
    let mut endpoints = facts.endpoints();
    let mut link = |name: &str| endpoints.remove(name);
    RouteIndex {
        name: facts.title(),
        version: facts.environment.gateway_version.clone(),
        description: facts.description(),
        start: Start {
            work: link("work"),
            work_feed: link("workFeed"),
            faucet: link("faucet"),
            status: facts.url(routes::STATUS),
            changelog: facts.url(routes::CHANGELOG),
            playground: facts.url(routes::DOCS),
        },
        gateway: facts.environment.base_url.clone(),
        signer: facts.signer,
        web: facts.web.map(str::to_owned),
        chain: facts.chain_view(),
        contracts: facts.chain.contracts.clone(),
        openapi: link("openapi").unwrap_or_default(),
        llms: link("llms").unwrap_or_default(),
        agent_card: link("agentCard").unwrap_or_default(),
        manifest: link("manifest").unwrap_or_default(),
        mcp: link("mcp"),
        routes: facts.routes().map(line).collect(),
    }
}

fn line(route: &RouteSpec) -> RouteLine {
    RouteLine { method: route.method.clone(), path: openapi::template(&route.path), summary: route.summary.clone() }
}
