//! How long claims are as JSON, without writing them.

use super::{CvClaim, CvLog};
use serde_json::{Map, Value};

/// The length of an object as JSON without spaces.
///
/// ```
/// use plugin_api::point::{json_bytes, members};
///
/// assert_eq!(json_bytes(&members([("a", 1.into()), ("b", "\n".into())])), r#"{"a":1,"b":"\n"}"#.len());
/// ```
pub fn json_bytes(members: &Map<String, Value>) -> usize {
    let bytes: usize = members.iter().map(|(name, value)| text_bytes(name) + 1 + value_bytes(value)).sum();
    bytes + separators(members.len())
}

impl CvClaim {
    /// Of the whole claim as JSON.
    pub(super) fn bytes(&self) -> usize {
        const NAMES: usize = r#"{"kind":,"id":,"statedAt":,"fields":,"logs":,"source":,"note":}"#.len();
        let Self { kind, id, stated_at, fields, logs, source, note } = self;
        let texts =
            text_bytes(kind) + text_bytes(id) + optional_bytes(source.as_deref()) + optional_bytes(note.as_deref());
        let stated_at = stated_at.map_or(NULL, |stated_at| value_bytes(&stated_at.into()));
        let log_bytes: usize = logs.iter().map(CvLog::bytes).sum();
        NAMES + texts + stated_at + json_bytes(fields) + log_bytes + separators(logs.len())
    }
}

impl CvLog {
    fn bytes(&self) -> usize {
        const NAMES: usize = r#"{"contract":,"event":,"tx":}"#.len();
        /// With its quotes.
        const HASH: usize = 68;
        NAMES + text_bytes(&self.contract) + text_bytes(&self.event) + self.tx.map_or(NULL, |_| HASH)
    }
}

const NULL: usize = "null".len();

/// Brackets and commas around so many items.
fn separators(items: usize) -> usize {
    2 + items.saturating_sub(1)
}

fn optional_bytes(text: Option<&str>) -> usize {
    text.map_or(NULL, text_bytes)
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::Null => NULL,
        Value::Bool(flag) => if *flag { "true" } else { "false" }.len(),
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text_bytes(text),
        Value::Array(items) => items.iter().map(value_bytes).sum::<usize>() + separators(items.len()),
        Value::Object(members) => json_bytes(members),
    }
}

/// With its quotes, and with what JSON escapes.
fn text_bytes(text: &str) -> usize {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.len() + 2 + text.bytes().map(more).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hash256, sdk::point::members};
    use serde_json::json;

    #[test]
    fn the_length_is_that_of_the_text() {
        let controls: String = (0..0x80_u8).map(char::from).collect();
        let fields = || {
            members([
                ("text", json!(controls)),
                ("more", json!(["é\u{1f600}\u{7f}\u{2028}", [], {}, { "a\"b": null, "c": [1, 2.5] }])),
                ("numbers", json!([0, -1, i64::MIN, u64::MAX, 1e21, 1.5e-7, true, false])),
            ])
        };
        let claim = CvClaim::new("Feedback", "feedback:1", []);
        let logs = [CvLog::new("a", "B", Hash256([7; 32])), CvLog::new("c", "D", None)];
        for claim in [
            claim.clone(),
            CvClaim { fields: fields(), ..claim.clone() }.stated(-7).proved_by(logs.clone()),
            CvClaim { fields: fields(), ..claim.clone() }.proved_by(logs.into_iter().take(1)),
            claim.asserted("/api/x\n", "\u{1}"),
        ] {
            let text = serde_json::to_string(&claim).unwrap_or_default();
            assert_eq!(claim.bytes(), text.len(), "{text}");
            assert_eq!(json_bytes(&claim.fields), json!(claim.fields).to_string().len());
        }
    }
}
