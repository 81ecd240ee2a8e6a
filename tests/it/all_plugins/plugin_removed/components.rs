//! The components of an OpenAPI document that a path or another component refers to.

use plugin_testing::Value;
use std::collections::BTreeSet;

/// Removes the components that neither a path nor a component in use refers to.
pub fn drop_what_nothing_names(document: &mut Value) {
    let components = document["components"].take();
    let mut named = BTreeSet::new();
    names(document, &mut named);
    loop {
        let before = named.len();
        for (kind, list) in components.as_object().unwrap() {
            for (name, component) in list.as_object().unwrap() {
                if named.contains(&format!("#/components/{kind}/{name}")) {
                    names(component, &mut named);
                }
            }
        }
        if named.len() == before {
            break;
        }
    }
    let mut left = components;
    for (kind, list) in left.as_object_mut().unwrap() {
        list.as_object_mut().unwrap().retain(|name, _| named.contains(&format!("#/components/{kind}/{name}")));
    }
    left.as_object_mut().unwrap().retain(|_, list| !list.as_object().unwrap().is_empty());
    document["components"] = left;
}

fn names(value: &Value, named: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            named.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            for scheme in members.get("security").and_then(Value::as_array).into_iter().flatten() {
                let schemes = scheme.as_object().into_iter().flat_map(|schemes| schemes.keys());
                named.extend(schemes.map(|name| format!("#/components/securitySchemes/{name}")));
            }
            members.values().for_each(|member| names(member, named));
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, named)),
        _ => {}
    }
}
