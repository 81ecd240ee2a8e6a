//! Extension points and services of plugins' own, with the types that cross between plugins.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An extension point that the plugin declares, or a service that it provides or uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceSpec {
    pub name: String,
    #[serde(flatten)]
    pub types: CallTypes,
    /// A service that is called within a transaction: [`crate::abi::PluginObject::call_service_in_write`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_write: bool,
}

/// What goes to another plugin and what comes back: JSON Schemas (2020-12) without descriptions. Two plugins understand each other
/// when both are equal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallTypes {
    pub input: Value,
    pub output: Value,
}

/// The request of the capability `service`: the body is the input, the response the output, both JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServiceCall {
    pub service: String,
    /// The input of a call within a transaction, which has no body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
}
