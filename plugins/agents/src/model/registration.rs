//! The registration file of ERC-8004 (the network's FRC-8004): identity, services, trust.
//!
//! Rule: `services` holds the standard's names only, because readers refuse a file with others; the network's own ways to reach the
//! agent are in its extension.

use super::{AgentLinks, AgentStatus, ServedDocuments, card_url};
use plugin_api::{Address, AgentId, JsonSchema, Wei, handles::Environment, json_text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const TYPE: &str = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";
const NOT_DEPLOYED: &str = "the identity registry is not deployed, so the agent is in none";

/// The agent that the file describes.
#[derive(Deserialize)]
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
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub name: String,
    pub description: String,
    pub image: String,
    /// Under the names of the standard: MCP, A2A, ENS, DID, wallet, OASF.
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
    pub extension: BTreeMap<String, Extension>,
}

/// A way to reach the agent.
#[derive(Serialize, JsonSchema)]
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
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listing {
    pub agent_id: AgentId,
    /// `eip155:<chain id>:<address>`
    pub agent_registry: String,
}

/// Members that the network adds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Extension {
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
    /// Ways to reach the agent that the standard has no name for.
    services: Vec<Service>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registrations_note: Option<&'static str>,
}

impl Registration {
    pub fn new(agent: RegistrationSubject, environment: &Environment, served: ServedDocuments) -> Self {
        let id = agent.id;
        let links = AgentLinks::new(&environment.base_url, id, served);
        // The standard wants one; the gateway serves its own icon always.
        let picture = || links.badge.clone().unwrap_or_else(|| format!("{}/docs/icon.svg", environment.base_url));
        let identity = environment.contract("identity8004");
        let listing =
            |identity| Listing { agent_id: id, agent_registry: format!("eip155:{}:{identity}", environment.chain_id) };
        let unnamed = || format!("Agent {id} of the {} network", environment.brand.network_name);
        Self {
            kind: TYPE,
            services: links.a2a.clone().map(a2a_service).into_iter().collect(),
            name: agent.name.clone(),
            description: agent.description.clone().filter(|text| !text.is_empty()).unwrap_or_else(unnamed),
            image: agent.image.clone().unwrap_or_else(picture),
            x402_support: agent.price_per_call.is_some_and(|price| price > Wei::ZERO),
            active: agent.status == AgentStatus::Active,
            registrations: identity.map(listing).into_iter().collect(),
            supported_trust: ["reputation", "validation"],
            extension: BTreeMap::from([(
                format!("x-{}", environment.brand.marker),
                Extension {
                    agent_id: id,
                    owner: agent.owner,
                    agent_registry: environment.contract("registry"),
                    identity_registry: identity,
                    reputation_registry: environment.contract("reputation8004"),
                    validation_registry: environment.contract("validation8004"),
                    chain_id: environment.chain_id,
                    price_per_job: agent.price_per_job,
                    services: own_services(&agent, environment, served),
                    capabilities: agent.capabilities,
                    model: agent.model,
                    registrations_note: identity.is_none().then_some(NOT_DEPLOYED),
                },
            )]),
        }
    }
}

fn service(name: &str, endpoint: String, version: Option<&'static str>) -> Service {
    Service { name: name.to_owned(), endpoint, version, card: None, price_per_call: None }
}

fn a2a_service(card: String) -> Service {
    service("A2A", card, Some("0.3"))
}

fn own_services(agent: &RegistrationSubject, environment: &Environment, served: ServedDocuments) -> Vec<Service> {
    let (base, id, marker) = (&environment.base_url, agent.id, &environment.brand.marker);
    let own = (!agent.endpoint.is_empty()).then(|| Service {
        card: Some(card_url(&agent.endpoint, marker)),
        ..service(marker, agent.endpoint.clone(), Some("1"))
    });
    let paid = (served.invoke && served.x402).then(|| Service {
        price_per_call: agent.price_per_call,
        ..service("x402", format!("{base}/a/{id}/invoke"), Some("1"))
    });
    let gateway = service("gateway", format!("{base}/api/agents/{id}"), None);
    own.into_iter().chain(paid).chain([gateway]).collect()
}
