//! Merges what plugins contribute into a document: objects deeply, lists as a union. What the document has already stays.

use serde_json::{Map, Value, map::Entry};

pub(crate) fn merge_missing(document: &mut Map<String, Value>, contribution: &Map<String, Value>) {
    for (name, value) in contribution {
        match document.entry(name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(value.clone());
            }
            Entry::Occupied(mut entry) => merge_value(entry.get_mut(), value),
        }
    }
}

fn merge_value(existing: &mut Value, contributed: &Value) {
    match (existing, contributed) {
        (Value::Object(existing), Value::Object(contributed)) => merge_missing(existing, contributed),
        (Value::Array(existing), Value::Array(contributed)) => {
            for item in contributed {
                if !existing.contains(item) {
                    existing.push(item.clone());
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn adds_missing_members_and_list_items_and_keeps_existing_values() {
        let mut document = json!({ "name": "a", "live": { "stats": {} }, "schemes": ["eip191"] });
        let contribution = json!({
            "name": "b", "live": { "top": [1] }, "schemes": ["x402", "eip191"], "x402": { "scheme": "voucher" },
        });
        if let (Value::Object(document), Value::Object(contribution)) = (&mut document, &contribution) {
            merge_missing(document, contribution);
        }
        assert_eq!(
            document,
            json!({
                "name": "a", "live": { "stats": {}, "top": [1] }, "schemes": ["eip191", "x402"], "x402": { "scheme": "voucher" },
            })
        );
    }
}
