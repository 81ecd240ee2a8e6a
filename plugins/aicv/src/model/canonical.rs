//! Canonical JSON (RFC 8785) as text that is made once: a claim is written when it is checked, and documents are put together of the texts.

use alloy_primitives::Keccak256;
use plugin_api::{Hash256, HostError, HostErrorCode, format::write_canonical};
use serde_json::Value;
use std::ops::Range;

pub fn internal(error: impl std::fmt::Display) -> HostError {
    HostError::new(HostErrorCode::Internal, error.to_string())
}

/// The value of a member.
#[derive(Clone, Debug)]
pub enum Part<'p> {
    Value(&'p Value),
    /// A text that is canonical already.
    Json(&'p str),
    /// An array of such texts.
    Array(Vec<&'p str>),
    Object(Vec<(&'p str, Self)>),
}

/// The text of an object one of whose members is a hash of all others. Names are ASCII.
#[derive(Debug)]
pub struct HashedObject {
    /// The object with 0 in place of the hash.
    text: String,
    /// Where the member of the hash stands, with the comma behind it.
    member: Range<usize>,
}

/// Of the member's text that is not its name: `"":"0x…",`.
const HASH_CHARS: usize = 72;
/// Of the digits of the hash, and behind them.
const DIGITS: usize = 64;
const END: &str = "\",";

impl HashedObject {
    /// One of the members is behind that of the hash.
    pub fn new(members: Vec<(&str, Part<'_>)>, hash_member: &str) -> Result<Self, HostError> {
        let bytes = texts_bytes(&members);
        let mut text = Vec::with_capacity(bytes + values_bytes(bytes));
        let gap = write_members(members, Some(hash_member), &mut text)?;
        let begin = gap.ok_or_else(|| internal("no member is behind the hash"))?;
        let text = String::from_utf8(text).map_err(internal)?;
        Ok(Self { text, member: begin..begin + hash_member.len() + HASH_CHARS })
    }

    fn around(&self) -> (&str, &str) {
        (self.text.get(..self.member.start).unwrap_or_default(), self.text.get(self.member.end..).unwrap_or_default())
    }

    /// Of the object without the hash.
    pub fn keccak(&self) -> Hash256 {
        let (begin, end) = self.around();
        let mut keccak = Keccak256::new();
        keccak.update(begin);
        keccak.update(end);
        Hash256(keccak.finalize().0)
    }

    /// Whether this is the text of the same object with a hash.
    pub fn is_in(&self, complete: &str) -> bool {
        let (begin, end) = self.around();
        let name = self.text.get(self.member.start..self.member.end - DIGITS - END.len()).unwrap_or_default();
        let rest = complete.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
        rest.is_some_and(|hash| hash.len() == self.member.len() && hash.starts_with(name))
    }

    /// The whole object.
    pub fn with(mut self, hash: Hash256) -> String {
        let end = self.member.end - END.len();
        self.text.replace_range(end - DIGITS..end, hash.to_string().trim_start_matches("0x"));
        self.text
    }
}

/// Of the texts among the members, which are most of an object.
fn texts_bytes(members: &[(&str, Part<'_>)]) -> usize {
    let bytes = members.iter().map(|(_, part)| match part {
        Part::Value(_) => 0,
        Part::Json(json) => json.len(),
        Part::Array(items) => items.iter().map(|item| item.len() + 1).sum(),
        Part::Object(members) => texts_bytes(members),
    });
    bytes.sum()
}

/// For the members that are no texts: a part of these, so that a large object is written without being moved.
fn values_bytes(texts_bytes: usize) -> usize {
    (texts_bytes / 8).min(64 * 1024) + 512
}

/// Appends the canonical text of an object. With zeros as the hash in its place, if others follow it; returns where that is.
fn write_members(
    mut members: Vec<(&str, Part<'_>)>,
    hash_member: Option<&str>,
    out: &mut Vec<u8>,
) -> Result<Option<usize>, HostError> {
    members.sort_unstable_by_key(|(name, _)| *name);
    out.push(b'{');
    let mut gap = None;
    for (place, (name, part)) in members.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        if let Some(hash_member) = hash_member.filter(|hash_member| gap.is_none() && name > *hash_member) {
            gap = Some(out.len());
            out.extend_from_slice(format!("\"{hash_member}\":\"0x{:0DIGITS$}{END}", 0).as_bytes());
        }
        serde_json::to_writer(&mut *out, name).map_err(internal)?;
        out.push(b':');
        write_part(part, out)?;
    }
    out.push(b'}');
    Ok(gap)
}

fn write_part(part: Part<'_>, out: &mut Vec<u8>) -> Result<(), HostError> {
    match part {
        Part::Value(value) => return write_canonical(value, out),
        Part::Json(json) => out.extend_from_slice(json.as_bytes()),
        Part::Array(items) => {
            out.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(item.as_bytes());
            }
            out.push(b']');
        }
        Part::Object(members) => {
            write_members(members, None, out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn reference(value: &Value) -> String {
        serde_json_canonicalizer::to_string(value).unwrap()
    }

    #[test]
    fn an_object_of_parts_is_the_object() {
        let hash = Hash256([0xab; 32]);
        let value = json!({ "type": "T", "b": [1, 2], "leaf": hash, "record": [{ "a": 1 }, { "a": 2 }], "m": { "z": 1, "y": 2 },
            "s": { "x": [1, 2], "y": 2 } });
        let (b, m) = (reference(&value["b"]), value["m"].clone());
        let record: Vec<String> = value["record"].as_array().unwrap().iter().map(reference).collect();
        let record: Vec<&str> = record.iter().map(String::as_str).collect();
        let members = || {
            vec![
                ("type", Part::Value(&value["type"])),
                ("b", Part::Json(&b)),
                ("m", Part::Value(&m)),
                ("record", Part::Array(record.clone())),
                ("s", Part::Object(vec![("y", Part::Json("2")), ("x", Part::Value(&value["b"]))])),
            ]
        };
        let object = HashedObject::new(members(), "leaf").unwrap();
        let mut without = value.clone();
        without.as_object_mut().unwrap().remove("leaf");
        assert_eq!(object.keccak(), Hash256::keccak(reference(&without).as_bytes()));
        let whole = reference(&value);
        assert!(object.is_in(&whole) && !object.is_in(&whole.replace("\"T\"", "\"U\"")));
        assert!(!object.is_in(&whole.replace("\"leaf\"", "\"lazy\":1,\"leaf\"")));
        assert_eq!(object.with(hash), whole);
        assert!(HashedObject::new(members(), "zz").is_err(), "nothing is behind it");
    }
}
