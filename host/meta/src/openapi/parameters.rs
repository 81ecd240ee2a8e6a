//! Parameters of an operation.

use super::references::{self, IF_NONE_MATCH};
use plugin_api::manifest::{Auth, Parameter, ParameterIn, RouteSpec};
use serde_json::{Map, Value, json};

fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split(['{', '}']).skip(1).step_by(2).map(|name| name.trim_start_matches('*'))
}

pub(super) fn has_path_parameters(route: &RouteSpec) -> bool {
    path_parameters(&route.path).next().is_some()
}

/// Path parameters that the handler does not read, then those that it declares, the envelope of a signed query, and
/// `If-None-Match`.
pub(super) fn parameters(route: &RouteSpec) -> Vec<Value> {
    let declared =
        |location, name: &str| route.parameters.iter().any(|spec| spec.place == location && spec.name == name);
    let missing = path_parameters(&route.path).filter(|name| !declared(ParameterIn::Path, name));
    let missing = missing.map(|name| describe("path", name, "", true, json!({ "type": "string" })));
    let mut parameters: Vec<_> = missing.chain(route.parameters.iter().map(parameter)).collect();
    if matches!(route.auth, Auth::SignedQuery { .. }) {
        let envelope = ["address", "ts", "sig"].into_iter().filter(|name| !declared(ParameterIn::Query, name));
        parameters.extend(envelope.map(|name| references::parameter(&format!("Signed.{name}"))));
    }
    if route.price.is_some() {
        let text = "The payment, when the request has a price: base64 of JSON. Also read from `X-PAYMENT` and `PAYMENT-SIGNATURE`.";
        parameters.push(describe("header", "PAYMENT", text, false, json!({ "type": "string" })));
    }
    if route.cached {
        parameters.push(references::parameter(IF_NONE_MATCH));
    }
    parameters
}

fn parameter(spec: &Parameter) -> Value {
    let (location, required) = match spec.place {
        ParameterIn::Path => ("path", true),
        ParameterIn::Query => ("query", spec.required),
        ParameterIn::Header => ("header", spec.required),
    };
    describe(location, &spec.name, &spec.description, required, without_null(spec.schema.clone()))
}

pub(super) fn describe(location: &str, name: &str, description: &str, required: bool, mut schema: Value) -> Value {
    let mut parameter = Map::from_iter([
        ("name".to_owned(), Value::from(name)),
        ("in".to_owned(), location.into()),
        ("required".to_owned(), required.into()),
    ]);
    if !description.is_empty() {
        parameter.insert("description".into(), description.into());
        // The description comes from the schema: not twice.
        if let Some(schema) = schema.as_object_mut() {
            schema.retain(|member, value| member != "description" || value.as_str() != Some(description));
        }
    }
    parameter.insert("schema".into(), schema);
    Value::Object(parameter)
}

/// Removes `null`, which the type of an optional member allows, but which a URL cannot carry.
fn without_null(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    members.retain(|name, value| !(name == "default" && value.is_null()));
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            members.remove("anyOf");
            members.extend(only);
        }
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(json!({ "type": ["string", "null"], "default": null }), json!({ "type": "string" }))]
    #[case(json!({ "type": ["integer", "string", "null"] }), json!({ "type": ["integer", "string"] }))]
    #[case(json!({ "type": ["string", "null"], "enum": ["1", null] }), json!({ "type": "string", "enum": ["1"] }))]
    #[case(json!({ "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "null" }] }), json!({ "type": "string", "enum": ["a"] }))]
    #[case(json!({ "type": "integer", "default": 5 }), json!({ "type": "integer", "default": 5 }))]
    #[case(json!(true), json!(true))]
    fn a_url_carries_no_null(#[case] schema: Value, #[case] expected: Value) {
        assert_eq!(without_null(schema), expected);
    }

    #[test]
    fn a_catch_all_is_a_parameter() {
        assert_eq!(path_parameters("/a/{slug}/files/{*rest}").collect::<Vec<_>>(), ["slug", "rest"]);
    }
}
