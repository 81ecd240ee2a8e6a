//! `/.well-known/agent.json`: the network as an agent that other agents can discover. The rule: the card lists a capability
//! or a skill only while its plugin is enabled.

use crate::{
    document_context::{ChainView, DocumentContext},
    merge::merge_missing,
    paths, signing,
    stats::{self, Stats},
};
use plugin_api::{Address, manifest::SkillSpec};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The members that every gateway has; plugins add more, for example `topAgents`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkAgentCard {
    pub name: String,
    pub description: String,
    pub url: String,
    pub version: String,
    pub documentation_url: String,
    pub provider: Provider,
    pub icon_url: String,
    pub capabilities: CardCapabilities,
    pub default_input_modes: Vec<String>,
    pub default_output_modes: Vec<String>,
    pub authentication: CardAuthentication,
    #[schemars(with = "Vec<SkillSchema>")]
    pub skills: Vec<SkillSpec>,
    /// URLs by name, of what is enabled here.
    pub endpoints: BTreeMap<String, String>,
    pub chain: ChainView,
    /// Addresses by name; null while undeployed.
    pub contracts: BTreeMap<String, Option<Address>>,
    /// The key that signs the gateway's own statements.
    pub signer: Option<Address>,
    pub stats: Stats,
    /// Unix seconds.
    pub generated_at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Provider {
    pub organization: String,
    pub url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardCapabilities {
    /// Some route answers server-sent events.
    pub streaming: bool,
    /// Webhooks can be registered.
    pub push_notifications: bool,
    /// The activity log can be read back.
    pub state_transition_history: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CardAuthentication {
    pub schemes: Vec<String>,
    pub description: String,
}

/// How a [`Skill`] looks on the wire.
#[derive(JsonSchema)]
#[schemars(rename = "Skill")]
#[allow(dead_code, reason = "only its schema is used")]
struct SkillSchema {
    id: String,
    name: String,
    description: String,
    tags: Vec<String>,
    examples: Vec<String>,
}

/// The whole document.
pub fn agent_card(context: &DocumentContext<'_>) -> Value {
    let mut document = match serde_json::to_value(members(context)) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for (_, discovery) in context.discovery {
        merge_missing(&mut document, &discovery.card);
    }
    Value::Object(document)
}

fn members(context: &DocumentContext<'_>) -> NetworkAgentCard {
    let json_only = || vec!["application/json".to_owned()];
    NetworkAgentCard {
        name: context.title(),
        description: context.description(),
        url: context.environment.base_url.clone(),
        version: context.environment.gateway_version.clone(),
        documentation_url: context.url(paths::DOCS),
        provider: Provider {
            organization: context.chain.name.clone(),
            url: context.web.unwrap_or(&context.environment.base_url).to_owned(),
        },
        icon_url: context.url("/docs/icon.svg"),
        capabilities: capabilities(context),
        default_input_modes: json_only(),
        default_output_modes: json_only(),
        authentication: authentication(context),
        skills: context.plugins.iter().flat_map(|plugin| plugin.skills.clone()).collect(),
        endpoints: context.endpoints(),
        chain: context.chain_view(),
        contracts: context.chain.contracts.clone(),
        signer: context.signer,
        stats: stats::manifest_stats(context.counters),
        generated_at: context.now_s,
    }
}

fn capabilities(context: &DocumentContext<'_>) -> CardCapabilities {
    let endpoints = context.endpoints();
    let mut answers = context.routes().flat_map(|route| &route.answers);
    CardCapabilities {
        streaming: answers.any(|answer| answer.content_type.starts_with("text/event-stream")),
        push_notifications: endpoints.contains_key("webhooks"),
        state_transition_history: endpoints.contains_key("activity"),
    }
}

fn authentication(context: &DocumentContext<'_>) -> CardAuthentication {
    let headers = signing::header_names(&context.environment.brand).join(", ");
    CardAuthentication {
        schemes: vec!["eip191".into()],
        description: format!(
            "Reads are public. A write is signed by a wallet (EIP-191 personal_sign) and carries address, ts and sig in its \
             JSON body; signed reads carry them in {headers}. The message to sign is in the manifest."
        ),
    }
}
