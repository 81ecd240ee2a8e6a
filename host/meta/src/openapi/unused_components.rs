//! Removes the components that no route of this gateway refers to.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

const KINDS: [&str; 4] = ["schemas", "responses", "parameters", "headers"];

pub(super) fn remove_unused(document: &mut Map<String, Value>) {
    let used = reachable(document);
    let Some(components) = document.get_mut("components").and_then(Value::as_object_mut) else { return };
    for kind in KINDS {
        if let Some(Value::Object(members)) = components.get_mut(kind) {
            members.retain(|name, _| used.contains(&format!("#/components/{kind}/{name}")));
        }
    }
    components.retain(|_, members| members.as_object().is_none_or(|members| !members.is_empty()));
}

fn reachable(document: &Map<String, Value>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut pending = Vec::new();
    collect_references(document.get("paths").unwrap_or(&Value::Null), &mut pending);
    while let Some(target) = pending.pop() {
        if let Some(value) = component(document, &target)
            && used.insert(target)
        {
            collect_references(value, &mut pending);
        }
    }
    used
}

fn component<'a>(document: &'a Map<String, Value>, target: &str) -> Option<&'a Value> {
    let (kind, name) = target.strip_prefix("#/components/")?.split_once('/')?;
    document.get("components")?.get(kind)?.get(name)
}

fn collect_references(value: &Value, targets: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => targets.push(target.clone()),
                    member => collect_references(member, targets),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, targets)),
        _ => {}
    }
}
