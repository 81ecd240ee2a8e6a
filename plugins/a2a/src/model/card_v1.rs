//! The card of A2A 1.0 alone, for clients that ask for that version: readers with a closed schema refuse other members.

use super::card::{Card, CardSkill, Interface, PAYMENT, Provider, scheme_name};
use plugin_api::{JsonSchema, handles::Environment};
use serde::Serialize;
use serde_json::{Map, Value, json};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardV1 {
    name: String,
    description: String,
    supported_interfaces: [Interface; 2],
    provider: Provider,
    version: String,
    documentation_url: String,
    icon_url: String,
    #[schemars(with = "Map<String, Value>")]
    capabilities: Value,
    #[schemars(with = "Map<String, Value>")]
    security_schemes: Value,
    /// What a call needs: an x402 payment, or nothing.
    #[schemars(with = "Vec<Map<String, Value>>")]
    security_requirements: Vec<Value>,
    default_input_modes: [&'static str; 2],
    default_output_modes: [&'static str; 1],
    skills: Vec<CardSkill>,
}

impl CardV1 {
    pub fn new(card: Card, environment: &Environment) -> Self {
        let scheme = scheme_name(&environment.brand.marker);
        let is_priced = card.is_priced();
        Self {
            capabilities: json!({ "streaming": false, "pushNotifications": false, "extendedAgentCard": false }),
            security_schemes: json!({
                &scheme: { "httpAuthSecurityScheme": { "scheme": "x402", "description": PAYMENT } },
            }),
            security_requirements: is_priced
                .then(|| json!({ "schemes": { &scheme: { "list": [] } } }))
                .into_iter()
                .collect(),
            name: card.name,
            description: card.description,
            supported_interfaces: card.supported_interfaces,
            provider: card.provider,
            version: card.version,
            documentation_url: card.documentation_url,
            icon_url: card.icon_url,
            default_input_modes: card.default_input_modes,
            default_output_modes: card.default_output_modes,
            skills: card.skills,
        }
    }
}
