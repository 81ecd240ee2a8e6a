//! Names of the shared components, and references to them.

use serde_json::{Value, json};

pub const SCHEMA_PREFIX: &str = "#/components/schemas/";
pub const ENVELOPE: &str = "Envelope";
pub const ERROR: &str = "Error";
pub const IF_NONE_MATCH: &str = "IfNoneMatch";

pub fn schema(name: &str) -> Value {
    json!({ "$ref": format!("{SCHEMA_PREFIX}{name}") })
}

pub fn parameter(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

pub fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

pub fn response(name: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/{name}") })
}
