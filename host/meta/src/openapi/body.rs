//! Request bodies. A signed body is the payload and the envelope in one object.

use super::references::{self, ENVELOPE, SCHEMA_PREFIX};
use crate::document_context::DocumentContext;
use plugin_api::manifest::{Auth, RouteSpec};
use serde_json::{Map, Value, json};

pub(super) fn takes_body(route: &RouteSpec) -> bool {
    route.body.is_some() || !route.body_types.is_empty() || matches!(route.auth, Auth::SignedBody { .. })
}

pub(super) fn request_body(context: &DocumentContext<'_>, route: &RouteSpec) -> Option<Value> {
    let mut content = Map::new();
    if matches!(route.auth, Auth::SignedBody { .. }) {
        content.insert("application/json".into(), json!({ "schema": signed_schema(context, route.body.as_ref()) }));
    } else if let Some(schema) = &route.body {
        content.insert("application/json".into(), json!({ "schema": schema }));
    }
    for content_type in &route.body_types {
        let media =
            if content_type.starts_with("text/") { json!({ "schema": { "type": "string" } }) } else { json!({}) };
        content.entry(content_type.clone()).or_insert(media);
    }
    // Without it a `GET` or `DELETE` of a route for any method would be no call.
    let is_required =
        !matches!(route.method.as_str(), "GET" | "DELETE") || matches!(route.auth, Auth::SignedBody { .. });
    takes_body(route).then(|| json!({ "required": is_required, "content": content }))
}

fn signed_schema(context: &DocumentContext<'_>, payload: Option<&Value>) -> Value {
    let envelope = references::schema(ENVELOPE);
    let Some(payload) = payload else { return envelope };
    match closed_schema(context, payload) {
        // A payload that forbids further members would forbid those of the envelope.
        Some(mut payload) => {
            payload.remove("additionalProperties");
            json!({ "allOf": [payload, envelope], "unevaluatedProperties": false })
        }
        None => json!({ "allOf": [payload, envelope] }),
    }
}

/// The payload's schema, if it forbids further members.
fn closed_schema(context: &DocumentContext<'_>, payload: &Value) -> Option<Map<String, Value>> {
    let schema_name = payload["$ref"].as_str().and_then(|target| target.strip_prefix(SCHEMA_PREFIX));
    let schema = match schema_name {
        Some(name) => context.manifests().find_map(|manifest| manifest.schemas.get(name))?,
        None => payload,
    };
    schema.as_object().filter(|schema| schema.get("additionalProperties") == Some(&Value::Bool(false))).cloned()
}
