//! `GET /api`: links to every document and route.

use crate::{
    document_context::{ChainView, DocumentContext},
    paths,
};
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
    pub routes: Vec<RouteIndexLine>,
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
pub struct RouteIndexLine {
    pub method: String,
    pub path: String,
    pub summary: String,
}

pub fn index(context: &DocumentContext<'_>) -> RouteIndex {
    let mut endpoints = context.endpoints();
    let mut link = |name: &str| endpoints.remove(name);
    RouteIndex {
        name: context.title(),
        version: context.environment.gateway_version.clone(),
        description: context.description(),
        start: Start {
            work: link("work"),
            work_feed: link("workFeed"),
            faucet: link("faucet"),
            status: context.url(paths::STATUS),
            changelog: context.url(paths::CHANGELOG),
            playground: context.url(paths::DOCS),
        },
        gateway: context.environment.base_url.clone(),
        signer: context.signer,
        web: context.web.map(str::to_owned),
        chain: context.chain_view(),
        contracts: context.chain.contracts.clone(),
        openapi: link("openapi").unwrap_or_default(),
        llms: link("llms").unwrap_or_default(),
        agent_card: link("agentCard").unwrap_or_default(),
        manifest: link("manifest").unwrap_or_default(),
        mcp: link("mcp"),
        routes: context.routes().map(line).collect(),
    }
}

fn line(route: &RouteSpec) -> RouteIndexLine {
    RouteIndexLine { method: route.method.clone(), path: paths::template(&route.path), summary: route.summary.clone() }
}
