//! The part of a list's response for a contract that is not deployed.

use plugin_api::{JsonSchema, handles::Environment};
use serde::Serialize;

/// Nothing, or `disabled: true` and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Availability {
    /// The list is empty because the gateway knows no contract that fills it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl Availability {
    pub fn of(contract: &str, environment: &Environment) -> Self {
        match environment.contract(contract) {
            Some(_) => Self::default(),
            None => Self { disabled: Some(true), reason: Some("not deployed") },
        }
    }
}
