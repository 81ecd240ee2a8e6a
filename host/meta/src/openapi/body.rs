//! Request bodies. A signed body is the payload and the envelope in one object.

use super::{super::Facts, SCHEMAS};
use plugin_api::manifest::{Auth, RouteSpec};
use serde_json::{Map, Value, json};

pub const ENVELOPE: &str = "Envelope";

pub fn is_taken(route: &RouteSpec) -> bool {
    route.body.is_some() || !route.body_types.is_empty() || matches!(route.auth, Auth::SignedBody { .. })
}

pub fn request_body(facts: &Facts<'_>, route: &RouteSpec) -> Option<Value> {
    let mut content = Map::new();
    if matches!(route.auth, Auth::SignedBody { .. }) {
        content.insert("application/json".into(), json!({ "schema": signed(facts, route.body.as_ref()) }));
    } else if let Some(schema) = &route.body {
        content.insert("application/json".into(), json!({ "schema": schema }));
    }
    for content_type in &route.body_types {
        let media =
            if content_type.starts_with("text/") { json!({ "schema": { "type": "string" } }) } else { json!({}) };
        content.entry(content_type.clone()).or_insert(media);
    }
    is_taken(route).then(|| json!({ "required": true, "content": content }))
}

fn signed(facts: &Facts<'_>, payload: Option<&Value>) -> Value {
    let envelope = json!({ "$ref": format!("{SCHEMAS}{ENVELOPE}") });
    let Some(payload) = payload else { return envelope };
    match closed(facts, payload) {
        // A payload that forbids further members would forbid those of the envelope.
        Some(mut payload) => {
            payload.remove("additionalProperties");
            json!({ "allOf": [payload, envelope], "unevaluatedProperties": false })
        }
        None => json!({ "allOf": [payload, envelope] }),
    }
}

/// The payload's schema, when it says that further members are wrong.
fn closed(facts: &Facts<'_>, payload: &Value) -> Option<Map<String, Value>> {
    let named = payload["$ref"].as_str().and_then(|target| target.strip_prefix(SCHEMAS));
    let schema = match named {
        Some(name) => facts.manifests().find_map(|manifest| manifest.schemas.get(name))?,
        None => payload,
    };
    schema.as_object().filter(|schema| schema.get("additionalProperties") == Some(&Value::Bool(false))).cloned()
}
