//! `/.well-known/agent.json`: the network as an agent that other agents can look up. The rule: a capability or a skill
//! stands here only while the plugin behind it is enabled.

use super::{
    ChainView, Facts, merge, routes, signing,
    stats::{self, Stats},
};
use plugin_api::{Address, point::Skill};
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
    pub capabilities: Capabilities,
    pub default_input_modes: Vec<String>,
    pub default_output_modes: Vec<String>,
    pub authentication: Authentication,
    #[schemars(with = "Vec<SkillShape>")]
    pub skills: Vec<Skill>,
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
#[schemars(rename = "CardCapabilities")]
pub struct Capabilities {
    /// Some route answers server-sent events.
    pub streaming: bool,
    /// Webhooks can be registered.
    pub push_notifications: bool,
    /// The activity log can be read back.
    pub state_transition_history: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CardAuthentication")]
pub struct Authentication {
    pub schemes: Vec<String>,
    pub description: String,
}

/// How a [`Skill`] looks on the wire.
#[derive(JsonSchema)]
#[schemars(rename = "Skill")]
#[allow(dead_code, reason = "only its schema is used")]
struct SkillShape {
    id: String,
    name: String,
    description: String,
    tags: Vec<String>,
    examples: Vec<String>,
}

/// The whole document.
pub fn agent_card(facts: &Facts<'_>) -> Value {
    let mut document = match serde_json::to_value(members(facts)) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for (_, discovery) in facts.discovery {
        merge::fill(&mut document, &discovery.card);
    }
    Value::Object(document)
}

fn members(facts: &Facts<'_>) -> NetworkAgentCard {
    let json_only = || vec!["application/json".to_owned()];
    NetworkAgentCard {
        name: facts.title(),
        description: facts.description(),
        url: facts.environment.base_url.clone(),
        version: facts.environment.gateway_version.clone(),
        documentation_url: facts.url(routes::DOCS),
        provider: Provider {
            organization: facts.chain.name.clone(),
            url: facts.web.unwrap_or(&facts.environment.base_url).to_owned(),
        },
        icon_url: facts.url("/docs/icon.svg"),
        capabilities: capabilities(facts),
        default_input_modes: json_only(),
        default_output_modes: json_only(),
        authentication: authentication(facts),
        skills: facts.discovery.iter().flat_map(|(_, discovery)| discovery.skills.clone()).collect(),
        endpoints: facts.endpoints(),
        chain: facts.chain_view(),
        contracts: facts.chain.contracts.clone(),
        signer: facts.signer,
        stats: stats::manifest_stats(facts.counters),
        generated_at: facts.now_s,
    }
}

fn capabilities(facts: &Facts<'_>) -> Capabilities {
    let endpoints = facts.endpoints();
    let mut answers = facts.routes().flat_map(|route| &route.answers);
    Capabilities {
        streaming: answers.any(|answer| answer.content_type.starts_with("text/event-stream")),
        push_notifications: endpoints.contains_key("webhooks"),
        state_transition_history: endpoints.contains_key("activity"),
    }
}

fn authentication(facts: &Facts<'_>) -> Authentication {
    let headers = signing::header_names(&facts.environment.brand).join(", ");
    Authentication {
        schemes: vec!["eip191".into()],
        description: format!(
            "Reads are public. A write is signed by a wallet (EIP-191 personal_sign) and carries address, ts and sig in its \
             JSON body; signed reads carry them in {headers}. The message to sign is in the manifest."
        ),
    }
}
