//! Entries of the log: the JCS (RFC 8785) of an event, as the activity log has it.

use plugin_api::format::write_canonical;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A length of 16 bits in a bundle can say 65,535; and 256 entries with their lengths are a response of at most 16 MiB.
pub const ENTRY_BYTES_MAX: usize = 65_533;

/// Of the members beside the data, usually.
const OTHER_BYTES: usize = 256;

/// A row of the activity log, retracted or not.
#[derive(Clone, Debug, Deserialize)]
pub struct LogEvent {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    pub ts: i64,
    pub actor: Option<String>,
    pub ref_kind: Option<String>,
    pub ref_id: Option<String>,
    pub data: String,
}

impl LogEvent {
    /// Data that has no canonical form of at most [`ENTRY_BYTES_MAX`], which older gateways and numbers like `1e300` make possible,
    /// is named by its length and hash: the log goes on whatever it says.
    pub fn entry(&self) -> Vec<u8> {
        let data: Option<Value> = serde_json::from_str(&self.data).ok();
        let whole = data.and_then(|data| self.canonical(&data)).filter(|entry| entry.len() <= ENTRY_BYTES_MAX);
        whole.unwrap_or_else(|| {
            let sha256 = hex::encode(Sha256::digest(&self.data));
            self.canonical(&json!({ "omitted": { "bytes": self.data.len(), "sha256": sha256 } })).unwrap_or_default()
        })
    }

    /// The members in the order of their names. Both forms of JSON write texts in the same way.
    fn canonical(&self, data: &Value) -> Option<Vec<u8>> {
        let Self { id, kind, ts, actor, ref_kind, ref_id, .. } = self;
        let mut entry = Vec::with_capacity(self.data.len() + OTHER_BYTES);
        text(b"{\"actor\":", actor.as_deref(), &mut entry)?;
        value(b",\"data\":", data, &mut entry)?;
        value(b",\"id\":", &json!(id), &mut entry)?;
        match ref_kind.as_deref().zip(ref_id.as_deref()) {
            Some((kind, id)) => {
                text(b",\"ref\":{\"id\":", Some(id), &mut entry)?;
                text(b",\"kind\":", Some(kind), &mut entry)?;
                entry.push(b'}');
            }
            None => entry.extend_from_slice(b",\"ref\":null"),
        }
        value(b",\"ts\":", &json!(ts), &mut entry)?;
        text(b",\"type\":", Some(kind), &mut entry)?;
        entry.push(b'}');
        Some(entry)
    }
}

/// Appends a member whose value is a text or null, behind its name.
fn text(name: &[u8], value: Option<&str>, entry: &mut Vec<u8>) -> Option<()> {
    entry.extend_from_slice(name);
    serde_json::to_writer(entry, &value).ok()
}

fn value(name: &[u8], value: &Value, entry: &mut Vec<u8>) -> Option<()> {
    entry.extend_from_slice(name);
    write_canonical(value, entry).ok()
}

/// Entries as a bundle has them: each behind its length.
pub fn bundle<'a>(entries: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bundle = Vec::new();
    for entry in entries {
        let length = u16::try_from(entry.len()).unwrap_or(u16::MAX);
        bundle.extend(length.to_be_bytes());
        bundle.extend(entry.iter().take(usize::from(length)));
    }
    bundle
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn event(data: &str) -> LogEvent {
        LogEvent {
            id: 7,
            kind: "thread.create".into(),
            ts: 1_767_225_600,
            actor: Some("0xabc".into()),
            ref_kind: Some("thread".into()),
            ref_id: Some("3".into()),
            data: data.into(),
        }
    }

    fn entry_of(event: &LogEvent) -> String {
        String::from_utf8(event.entry()).unwrap()
    }

    #[test]
    fn an_entry_is_canonical_json() {
        let entry = entry_of(&event(r#"{ "b": 1.0, "a": ["\u20ac", 1e2, null] }"#));
        assert_eq!(
            entry,
            r#"{"actor":"0xabc","data":{"a":["€",100,null],"b":1},"id":7,"ref":{"id":"3","kind":"thread"},"ts":1767225600,"type":"thread.create"}"#
        );
        let nobody = LogEvent { actor: None, ref_kind: None, ref_id: None, ..event("{}") };
        let expected = r#"{"actor":null,"data":{},"id":7,"ref":null,"ts":1767225600,"type":"thread.create"}"#;
        assert_eq!(entry_of(&nobody), expected);
    }

    /// The host's limits: 56 KiB of data, 512 bytes of each part of the subject, which may all be written as escapes.
    #[test]
    fn the_largest_event_of_the_host_is_an_entry_as_it_is() {
        let data = format!(r#"{{"a":"{}"}}"#, "x".repeat(56 * 1024 - 8));
        assert_eq!(data.len(), 56 * 1024);
        let escaped = "\u{1}".repeat(512);
        let actor = Some(format!("0x{}", "f".repeat(40)));
        let kind = "k".repeat(64);
        let (ref_kind, ref_id) = (Some(escaped.clone()), Some(escaped));
        let largest = LogEvent { id: i64::MAX, ts: i64::MIN, kind, actor, ref_kind, ref_id, data };
        let entry = entry_of(&largest);
        assert!(entry.len() <= ENTRY_BYTES_MAX && !entry.contains("omitted"), "{}", entry.len());
    }

    #[test]
    fn data_without_a_canonical_form_is_named_by_its_hash() {
        let long = format!("[{}0]", "1e20,".repeat(5000));
        for data in [&*long, "{\"a\":1e400}", "not JSON"] {
            let entry = entry_of(&event(data));
            let sha256 = hex::encode(Sha256::digest(data));
            let omitted = format!(r#""data":{{"omitted":{{"bytes":{},"sha256":"{sha256}"}}}}"#, data.len());
            assert!(entry.contains(&omitted), "{entry:.200}");
        }
    }

    #[test]
    fn a_bundle_has_each_entry_behind_its_length() {
        assert_eq!(bundle([&b"abc"[..], b"", b"d"]), b"\0\x03abc\0\0\0\x01d");
        let longest = vec![b'x'; ENTRY_BYTES_MAX];
        assert_eq!(bundle([&*longest]).len(), 2 + ENTRY_BYTES_MAX);
        // The gateway's bound of a response.
        const { assert!(256 * (2 + ENTRY_BYTES_MAX) <= 16 * 1024 * 1024) };
    }
}
