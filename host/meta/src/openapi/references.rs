//! Names of the shared components, and references to them.

use serde_json::{Value, json};

pub(super) const SCHEMA_PREFIX: &str = "#/components/schemas/";
pub(super) const ENVELOPE: &str = "Envelope";
pub(super) const ERROR: &str = "Error";
pub(super) const IF_NONE_MATCH: &str = "IfNoneMatch";

pub(super) fn schema(name: &str) -> Value {
    json!({ "$ref": format!("{SCHEMA_PREFIX}{name}") })
}

pub(super) fn parameter(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

pub(super) fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

pub(super) fn response(name: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/{name}") })
}
