//! Contributed parts of a document go into its gaps: objects are merged, lists are joined, what is there already stays.

use serde_json::{Map, Value, map::Entry};

pub fn fill(document: &mut Map<String, Value>, part: &Map<String, Value>) {
    for (name, more) in part {
        match document.entry(name.clone()) {
            Entry::Vacant(gap) => {
                gap.insert(more.clone());
            }
            Entry::Occupied(mut there) => fill_member(there.get_mut(), more),
        }
    }
}

fn fill_member(there: &mut Value, more: &Value) {
    match (there, more) {
        (Value::Object(there), Value::Object(more)) => fill(there, more),
        (Value::Array(there), Value::Array(more)) => {
            for item in more {
                if !there.contains(item) {
                    there.push(item.clone());
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
    fn fills_gaps_joins_lists_and_keeps_what_is_there() {
        let mut document = json!({ "name": "a", "live": { "stats": {} }, "schemes": ["eip191"] });
        let part = json!({
            "name": "b", "live": { "top": [1] }, "schemes": ["x402", "eip191"], "x402": { "scheme": "voucher" },
        });
        if let (Value::Object(document), Value::Object(part)) = (&mut document, &part) {
            fill(document, part);
        }
        assert_eq!(
            document,
            json!({
                "name": "a", "live": { "stats": {}, "top": [1] }, "schemes": ["eip191", "x402"], "x402": { "scheme": "voucher" },
            })
        );
    }
}
