//! Drops components that nothing refers to: of the shared answers and schemas only those that this gateway's routes use.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

const KINDS: [&str; 4] = ["schemas", "responses", "parameters", "headers"];

pub fn drop_unused_components(document: &mut Map<String, Value>) {
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
    let mut open = Vec::new();
    collect(document.get("paths").unwrap_or(&Value::Null), &mut open);
    while let Some(target) = open.pop() {
        if let Some(value) = component(document, &target)
            && used.insert(target)
        {
            collect(value, &mut open);
        }
    }
    used
}

fn component<'a>(document: &'a Map<String, Value>, target: &str) -> Option<&'a Value> {
    let (kind, name) = target.strip_prefix("#/components/")?.split_once('/')?;
    document.get("components")?.get(kind)?.get(name)
}

fn collect(value: &Value, targets: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(target) if name == "$ref" => targets.push(target.clone()),
                    member => collect(member, targets),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, targets)),
        _ => {}
    }
}
