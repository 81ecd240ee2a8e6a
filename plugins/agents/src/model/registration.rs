//! The registration file of ERC-8004 (the network's FRC-8004): identity, services, trust.

use super::{AgentId, AgentLinks, AgentStatus, card_url};
use plugin_api::{Address, Environment, JsonSchema, Wei, json_text};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};
use serde_json::{Map, Value};

const TYPE: &str = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";

/// The contracts with records about agents; `None` while not deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registries {
    pub agents: Option<Address>,
    pub identity: Option<Address>,
    pub reputation: Option<Address>,
    pub validation: Option<Address>,
}

impl Registries {
    pub fn of(environment: &Environment) -> Self {
        let contract = |key| environment.contract(key);
        Self {
            agents: contract("registry"),
            identity: contract("identity8004"),
            reputation: contract("reputation8004"),
            validation: contract("validation8004"),
        }
    }
}

/// The agent that the file describes.
#[derive(Clone, Debug, Deserialize)]
pub struct RegistrationSubject {
    pub id: AgentId,
    pub owner: Address,
    pub name: String,
    pub endpoint: String,
    pub status: AgentStatus,
    pub price_per_job: Wei,
    pub description: Option<String>,
    pub image: Option<String>,
    #[serde(deserialize_with = "json_text")]
    pub capabilities: Vec<String>,
    pub model: Option<String>,
    pub price_per_call: Option<Wei>,
}

/// The file. Where the standard wants a text, there is one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub name: String,
    pub description: String,
    pub image: String,
    pub services: Vec<Service>,
    /// Whether the agent asks for payment per call.
    pub x402_support: bool,
    pub active: bool,
    /// Empty while the identity registry is undeployed.
    pub registrations: Vec<Listing>,
    pub supported_trust: [&'static str; 2],
    /// Named `x-` and the network's marker.
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    pub extension: Extension,
}

/// A way to reach the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    pub name: String,
    pub endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'static str>,
    /// Where the agent serves its own card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_per_call: Option<Wei>,
}

/// The agent in an identity registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listing {
    pub agent_id: AgentId,
    /// `eip155:<chain id>:<address>`
    pub agent_registry: String,
}

/// Members that the network adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Extension {
    name: String,
    members: ExtensionMembers,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ExtensionMembers {
    agent_id: AgentId,
    owner: Address,
    agent_registry: Option<Address>,
    identity_registry: Option<Address>,
    reputation_registry: Option<Address>,
    validation_registry: Option<Address>,
    chain_id: u64,
    price_per_job: Wei,
    capabilities: Vec<String>,
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registrations_note: Option<&'static str>,
}

impl Serialize for Extension {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.members)?;
        map.end()
    }
}

impl Registration {
    pub fn new(agent: RegistrationSubject, environment: &Environment) -> Self {
        let registries = Registries::of(environment);
        let listing = |identity: Address| Listing {
            agent_id: agent.id,
            agent_registry: format!("eip155:{}:{identity}", environment.chain_id),
        };
        let unnamed = || format!("Agent {} of the {} network", agent.id, environment.brand.network_name);
        Self {
            kind: TYPE,
            name: agent.name.clone(),
            description: agent.description.clone().filter(|text| !text.is_empty()).unwrap_or_else(unnamed),
            image: agent.image.clone().unwrap_or_else(|| AgentLinks::new(&environment.base_url, agent.id).badge),
            services: services(&agent, environment),
            x402_support: agent.price_per_call.is_some_and(|price| price > Wei::ZERO),
            active: agent.status == AgentStatus::Active,
            registrations: registries.identity.map(listing).into_iter().collect(),
            supported_trust: ["reputation", "validation"],
            extension: Extension {
                name: format!("x-{}", environment.brand.marker),
                members: facts(agent, registries, environment.chain_id),
            },
        }
    }
}

fn facts(agent: RegistrationSubject, registries: Registries, chain_id: u64) -> ExtensionMembers {
    let note = "the identity registry is not deployed, so the agent is in none";
    ExtensionMembers {
        agent_id: agent.id,
        owner: agent.owner,
        agent_registry: registries.agents,
        identity_registry: registries.identity,
        reputation_registry: registries.reputation,
        validation_registry: registries.validation,
        chain_id,
        price_per_job: agent.price_per_job,
        capabilities: agent.capabilities,
        model: agent.model,
        registrations_note: registries.identity.is_none().then_some(note),
    }
}

fn services(agent: &RegistrationSubject, environment: &Environment) -> Vec<Service> {
    let (base, id, marker) = (&environment.base_url, agent.id, &environment.brand.marker);
    let service = |name: &str, endpoint: String, version| Service {
        name: name.to_owned(),
        endpoint,
        version,
        card: None,
        price_per_call: None,
    };
    let own = (!agent.endpoint.is_empty()).then(|| Service {
        card: Some(card_url(&agent.endpoint, marker)),
        ..service(marker, agent.endpoint.clone(), Some("1"))
    });
    let paid =
        Service { price_per_call: agent.price_per_call, ..service("x402", format!("{base}/a/{id}/invoke"), Some("1")) };
    let a2a = service("a2a", AgentLinks::new(base, id).a2a, Some("0.3"));
    let gateway = service("gateway", format!("{base}/api/agents/{id}"), None);
    own.into_iter().chain([a2a, paid, gateway]).collect()
}
