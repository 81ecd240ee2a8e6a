//! What an agent gets of a message: the body of its `/invoke`.

use super::part::Part;
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation<'m> {
    pub task_id: &'m str,
    /// The texts of all parts, one per line.
    pub text: String,
    /// The data of the only part that has any, or a list of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// As the client sent them.
    pub parts: Vec<Value>,
}

impl<'m> Invocation<'m> {
    pub fn new(task_id: &'m str, parts: &[Part]) -> Self {
        let texts: Vec<&str> = parts.iter().filter_map(Part::text).collect();
        let mut data: Vec<Value> = parts.iter().filter_map(Part::data).cloned().collect();
        let data = if data.len() > 1 { Some(data.into()) } else { data.pop() };
        Self { task_id, text: texts.join("\n"), data, parts: parts.iter().map(Part::as_sent).collect() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(parts: &Value) -> Value {
        let parts: Vec<Part> =
            parts.as_array().unwrap().iter().enumerate().map(|(at, part)| Part::parse(part, at).unwrap()).collect();
        serde_json::to_value(Invocation::new("t", &parts)).unwrap()
    }

    #[test]
    fn texts_are_joined_and_data_is_a_value_or_a_list() {
        let parts = json!([{ "type": "text", "text": "a" }, { "text": "b", "data": { "x": 1 } }]);
        assert_eq!(body(&parts), json!({ "taskId": "t", "text": "a\nb", "data": { "x": 1 }, "parts": parts }));
        let parts = json!([{ "kind": "data", "data": [1] }, { "data": 2 }]);
        assert_eq!(body(&parts), json!({ "taskId": "t", "text": "", "data": [[1], 2], "parts": parts }));
        let parts = json!([{ "kind": "file", "file": { "bytes": "eA==" } }]);
        assert_eq!(body(&parts), json!({ "taskId": "t", "text": "", "parts": parts }));
    }
}
