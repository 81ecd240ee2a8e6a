//! The A2A card of an agent that clients of every version read: the members of 0.1 to 0.3, and the interfaces of 1.0.

use plugin_api::{Address, AgentId, JsonSchema, Wei, handles::Environment, json_text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The agent that a card describes.
#[derive(Debug, Deserialize)]
pub struct CardSubject {
    pub agent_id: AgentId,
    pub owner: Address,
    pub name: String,
    pub endpoint: String,
    pub price_per_job: Wei,
    /// The agent's own card, as it served it.
    pub card: Option<String>,
    pub description: Option<String>,
    #[serde(deserialize_with = "json_text")]
    pub capabilities: Vec<String>,
    pub image: Option<String>,
    pub price_per_call: Option<Wei>,
    pub online: bool,
}

/// The card. A client reads the members that its version knows.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Card {
    protocol_version: &'static str,
    pub name: String,
    pub description: String,
    /// Where messages are sent.
    pub url: String,
    preferred_transport: &'static str,
    pub supported_interfaces: [Interface; 2],
    /// Of the agent.
    pub version: String,
    pub provider: Provider,
    pub documentation_url: String,
    pub icon_url: String,
    capabilities: Capabilities,
    pub default_input_modes: [&'static str; 2],
    pub default_output_modes: [&'static str; 1],
    pub skills: Vec<CardSkill>,
    #[schemars(with = "Map<String, Value>")]
    authentication: Value,
    #[schemars(with = "Map<String, Value>")]
    security_schemes: Value,
    /// What a call needs: an x402 payment, or nothing.
    security: Vec<BTreeMap<String, Vec<String>>>,
    /// Named by the network's marker: what the network knows of the agent.
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    network: BTreeMap<String, Value>,
}

/// An address, and what is spoken there.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Interface {
    url: String,
    protocol_binding: &'static str,
    protocol_version: &'static str,
}

/// Who runs the agent's front: the network.
#[derive(Serialize, JsonSchema)]
pub struct Provider {
    organization: String,
    url: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Capabilities {
    streaming: bool,
    push_notifications: bool,
    state_transition_history: bool,
}

/// Something that the agent can do.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardSkill {
    id: String,
    name: String,
    description: String,
    tags: Vec<String>,
    input_modes: [&'static str; 2],
    output_modes: [&'static str; 1],
}

const INPUT_MODES: [&str; 2] = ["text/plain", "application/json"];
const OUTPUT_MODES: [&str; 1] = ["application/json"];
pub const PAYMENT: &str = "An x402 payment of pricePerCall to the agent's owner: the 402 of a call without one says how, and its header is PAYMENT";

impl Card {
    /// `segment` names the agent in the path of the request.
    pub fn new(agent: CardSubject, segment: &str, environment: &Environment) -> Self {
        let (base, marker) = (&environment.base_url, &environment.brand.marker);
        let scheme = scheme_name(marker);
        let is_priced = agent.price_per_call.is_some_and(|price| price > Wei::ZERO);
        let url = format!("{base}/a/{segment}/a2a");
        let id = agent.agent_id;
        Self {
            protocol_version: "0.3.0",
            description: described(agent.description.as_deref(), id, environment),
            preferred_transport: "JSONRPC",
            supported_interfaces: ["1.0", "0.3"].map(|version| Interface {
                url: url.clone(),
                protocol_binding: "JSONRPC",
                protocol_version: version,
            }),
            version: declared_version(agent.card.as_deref()),
            provider: Provider {
                organization: environment.brand.network_name.clone(),
                url: environment.web_url.clone().unwrap_or_else(|| base.clone()),
            },
            documentation_url: format!("{base}/docs"),
            icon_url: agent.image.clone().unwrap_or_else(|| format!("{base}/docs/icon.svg")),
            capabilities: Capabilities { streaming: false, push_notifications: false, state_transition_history: false },
            default_input_modes: INPUT_MODES,
            default_output_modes: OUTPUT_MODES,
            skills: skills(&agent, marker, is_priced),
            authentication: json!({ "schemes": [scheme], "credentials": PAYMENT }),
            security_schemes: json!({ &scheme: { "type": "http", "scheme": "x402", "description": PAYMENT } }),
            security: is_priced.then(|| BTreeMap::from([(scheme, Vec::new())])).into_iter().collect(),
            network: BTreeMap::from([(
                marker.clone(),
                json!({
                    "agentId": id, "owner": agent.owner, "endpoint": agent.endpoint, "pricePerJob": agent.price_per_job,
                    "pricePerCall": agent.price_per_call, "invoke": format!("{base}/a/{segment}/invoke"),
                    "erc8004": format!("{base}/api/agents/{id}/erc8004.json"), "agent": format!("{base}/api/agents/{id}"),
                    "online": agent.online, "gateway": environment.gateway_version,
                }),
            )]),
            name: agent.name,
            url,
        }
    }

    pub fn is_priced(&self) -> bool {
        !self.security.is_empty()
    }
}

/// Of the way to pay.
pub fn scheme_name(marker: &str) -> String {
    format!("x402-{marker}")
}

fn described(description: Option<&str>, id: AgentId, environment: &Environment) -> String {
    let default = || format!("Agent {id} of the {} network", environment.brand.network_name);
    description.filter(|text| !text.trim().is_empty()).map_or_else(default, str::to_owned)
}

fn declared_version(card: Option<&str>) -> String {
    #[derive(Deserialize)]
    struct Declared {
        version: Option<Value>,
    }
    let declared = card.and_then(|card| serde_json::from_str::<Declared>(card).ok()).and_then(|card| card.version);
    let version = declared.as_ref().and_then(Value::as_str).filter(|version| !version.is_empty());
    version.unwrap_or("1.0.0").to_owned()
}

/// One for each capability that the agent declares, or one that is the call itself.
fn skills(agent: &CardSubject, marker: &str, is_priced: bool) -> Vec<CardSkill> {
    let tags: Vec<String> =
        [Some(marker), is_priced.then_some("x402")].into_iter().flatten().map(str::to_owned).collect();
    let skill = |id, name: &str, description| CardSkill {
        id,
        name: name.to_owned(),
        description,
        tags: tags.clone(),
        input_modes: INPUT_MODES,
        output_modes: OUTPUT_MODES,
    };
    let mut ids = BTreeSet::new();
    let named = agent.capabilities.iter().filter(|name| !name.trim().is_empty()).enumerate().map(|(position, name)| {
        let numbered = (position + 1..).map(|number| format!("skill-{number}"));
        let id = slug(name).into_iter().chain(numbered).find(|id| !ids.contains(id)).unwrap_or_default();
        ids.insert(id.clone());
        skill(id, name, format!("{name}, as the agent declares it"))
    });
    let named: Vec<CardSkill> = named.collect();
    if named.is_empty() {
        return vec![skill("invoke".to_owned(), "invoke", "Call the agent with a text or with data".to_owned())];
    }
    named
}

/// Letters and digits of ASCII in lower case, with a hyphen for each run of others; `None` when nothing is left.
fn slug(name: &str) -> Option<String> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    (!slug.is_empty()).then_some(slug)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn agent() -> CardSubject {
        CardSubject {
            agent_id: AgentId(7),
            owner: Address::ZERO,
            name: "Miner".to_owned(),
            endpoint: "https://a.example".to_owned(),
            price_per_job: Wei::ZERO,
            card: None,
            description: None,
            capabilities: Vec::new(),
            image: None,
            price_per_call: None,
            online: false,
        }
    }

    fn skill_ids(capabilities: &[&str]) -> Vec<String> {
        let capabilities = capabilities.iter().map(|name| (*name).to_owned()).collect();
        let agent = CardSubject { capabilities, ..agent() };
        skills(&agent, "service", false).into_iter().map(|skill| skill.id).collect()
    }

    #[test]
    fn skills_have_ids_of_their_own() {
        assert_eq!(skill_ids(&[]), ["invoke"]);
        assert_eq!(skill_ids(&["", " "]), ["invoke"]);
        assert_eq!(skill_ids(&["Dig Deep!", "dig-deep", "日本語", "é"]), ["dig-deep", "skill-2", "skill-3", "skill-4"]);
        assert_eq!(skill_ids(&["skill 2", "é"]), ["skill-2", "skill-3"]);
    }

    #[test]
    fn the_version_is_a_text_of_the_agents_card() {
        for (card, version) in [
            (None, "1.0.0"),
            (Some(r#"{"version":"2.1"}"#), "2.1"),
            (Some(r#"{"version":7}"#), "1.0.0"),
            (Some(r#"{"version":""}"#), "1.0.0"),
            (Some("no json"), "1.0.0"),
        ] {
            assert_eq!(declared_version(card), version, "{card:?}");
        }
    }

    #[test]
    fn the_brand_is_the_deployments() {
        let mut environment = Environment { base_url: "https://g.example".to_owned(), ..Environment::default() };
        environment.brand.marker = "ferminux".to_owned();
        let agent = CardSubject { price_per_call: Some("5".parse().unwrap()), ..agent() };
        let card = serde_json::to_value(Card::new(agent, "miner", &environment)).unwrap();
        assert_eq!(card["security"], json!([{ "x402-ferminux": [] }]));
        assert_eq!(card["ferminux"]["pricePerCall"], "5");
        assert_eq!(card["skills"][0]["tags"], json!(["ferminux", "x402"]));
        assert_eq!(card["description"], "Agent 7 of the Service network");
    }
}
