//! The text of a line.

use plugin_api::{Address, AgentId, HostError, format::canonical_json, point::AuditLine};
use serde_json::{Map, Value};

/// What all lines of an export have in common.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    pub agent_id: AgentId,
    pub signer: Address,
}

impl Common {
    /// The line as canonical JSON, without a signature. What a contribution says of a member of every line does not count.
    pub fn text(&self, seq: usize, line: AuditLine) -> Result<String, HostError> {
        let AuditLine { at, mut members } = line;
        members.remove("sig");
        for (name, value) in [
            ("seq", seq.into()),
            ("kind", at.kind.into()),
            ("ts", at.ts.into()),
            ("agentId", self.agent_id.0.into()),
            ("signer", self.signer.to_string().into()),
        ] as [(&str, Value); 5]
        {
            members.insert(name.to_owned(), value);
        }
        canonical_json(&Value::Object(members))
    }
}

/// Adds the member `sig` to an object.
pub fn with_signature(object: &str, signature: &str) -> String {
    let members = object.strip_suffix('}').unwrap_or(object);
    format!("{members},\"sig\":\"{signature}\"}}")
}

/// The arguments of a log as an export shows them: a reader in JavaScript keeps all digits of a text.
pub fn strings_for_integers(args: Map<String, Value>) -> Map<String, Value> {
    args.into_iter().map(|(name, value)| (name, string_for_integer(value))).collect()
}

fn string_for_integer(value: Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        Value::Array(items) => items.into_iter().map(string_for_integer).collect(),
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use plugin_api::point::{AuditPosition, members};
    use serde_json::json;

    #[test]
    fn a_line_is_canonical_and_its_common_members_are_the_exports() {
        let at = AuditPosition { ts: 7, kind: "commons".to_owned(), ..AuditPosition::default() };
        let lie = [
            ("ts", 1.into()),
            ("sig", "0x".into()),
            ("agentId", 9.into()),
            ("zz", 1.into()),
            ("Z", "\u{e9}\n\u{2028}".into()),
        ];
        let line = AuditLine { at, members: members(lie) };
        let common = Common { agent_id: AgentId(3), signer: Address::ZERO };
        let text = common.text(1, line).unwrap();
        let signer = Address::ZERO;
        let expected = format!(
            "{{\"Z\":\"\u{e9}\\n\u{2028}\",\"agentId\":3,\"kind\":\"commons\",\"seq\":1,\"signer\":\"{signer}\",\"ts\":7,\"zz\":1}}"
        );
        assert_eq!(text, expected);
        assert!(with_signature(&text, "0x12").ends_with(",\"zz\":1,\"sig\":\"0x12\"}"));
    }

    #[test]
    fn integers_of_arguments_become_texts_at_any_depth() {
        let args = json!({ "a": 1, "b": [2, [true, u64::MAX]], "c": "x", "d": false });
        let expected = json!({ "a": "1", "b": ["2", [true, "18446744073709551615"]], "c": "x", "d": false });
        assert_eq!(json!(strings_for_integers(args.as_object().unwrap().clone())), expected);
    }
}
