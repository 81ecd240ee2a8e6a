//! Canonical JSON (RFC 8785) as text that is made once: a claim is written when it is checked, and documents are put together of the texts.

use plugin_api::{Hash256, HostError, HostErrorCode, format::write_canonical};
use serde::Serialize;
use serde_json::Value;
use std::io;

pub fn internal(error: impl std::fmt::Display) -> HostError {
    HostError::new(HostErrorCode::Internal, error.to_string())
}

/// The length of a value as JSON.
pub fn json_bytes(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

/// The value of a member.
#[derive(Clone, Copy, Debug)]
pub enum Part<'p> {
    Value(&'p Value),
    /// A text that is canonical already.
    Json(&'p str),
    /// An array of such texts.
    Array(&'p [&'p str]),
}

/// The text of an object without one of its members, which is a hash of this text.
#[derive(Debug)]
pub struct HashedObject {
    text: String,
    /// Where the member belongs: others follow it.
    gap: usize,
    hash_member: &'static str,
}

/// Of a hash as a member, beside the member's name: `"":"0x…",`.
const HASH_CHARS: usize = 72;

impl HashedObject {
    /// `hash_member` is the member that is left out. Names are ASCII, and one of them is behind it.
    pub fn new(members: Vec<(&str, Part<'_>)>, hash_member: &'static str) -> Result<Self, HostError> {
        let (text, gap) = write_members(members, hash_member)?;
        let gap = gap.ok_or_else(|| internal("no member is behind the hash"))?;
        Ok(Self { text, gap, hash_member })
    }

    /// What is hashed.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Whether this is the text of the same object with a hash.
    pub fn is_in(&self, complete: &str) -> bool {
        let (begin, end) = self.text.split_at(self.gap);
        let rest = complete.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
        rest.is_some_and(|hash| {
            hash.len() == self.hash_member.len() + HASH_CHARS
                && hash.starts_with(&format!("\"{}\":\"0x", self.hash_member))
        })
    }

    /// The whole object.
    pub fn with(self, hash: Hash256) -> String {
        let Self { mut text, gap, hash_member } = self;
        text.insert_str(gap, &format!("\"{hash_member}\":\"{hash}\","));
        text
    }
}

/// The canonical text of an object. Names are ASCII.
pub fn object(members: Vec<(&str, Part<'_>)>) -> Result<String, HostError> {
    Ok(write_members(members, "")?.0)
}

/// Also where a member of this name would begin, if others follow it.
fn write_members(mut members: Vec<(&str, Part<'_>)>, absent: &str) -> Result<(String, Option<usize>), HostError> {
    members.sort_unstable_by_key(|(name, _)| *name);
    let mut out = vec![b'{'];
    let mut gap = None;
    for (place, (name, part)) in members.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        if gap.is_none() && name > absent {
            gap = Some(out.len());
        }
        serde_json::to_writer(&mut out, name).map_err(internal)?;
        out.push(b':');
        write_part(part, &mut out)?;
    }
    out.push(b'}');
    Ok((String::from_utf8(out).map_err(internal)?, gap))
}

fn write_part(part: Part<'_>, out: &mut Vec<u8>) -> Result<(), HostError> {
    match part {
        Part::Value(value) => return write_canonical(value, out),
        Part::Json(json) => out.extend_from_slice(json.as_bytes()),
        Part::Array(items) => {
            out.reserve(items.iter().map(|item| item.len() + 1).sum());
            out.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(item.as_bytes());
            }
            out.push(b']');
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
        let value = json!({ "type": "T", "b": [1, 2], "leaf": hash, "record": [{ "a": 1 }, { "a": 2 }], "m": { "z": 1, "y": 2 } });
        let (b, m) = (reference(&value["b"]), value["m"].clone());
        let record: Vec<String> = value["record"].as_array().unwrap().iter().map(reference).collect();
        let record: Vec<&str> = record.iter().map(String::as_str).collect();
        let members = || {
            vec![
                ("type", Part::Value(&value["type"])),
                ("b", Part::Json(&b)),
                ("m", Part::Value(&m)),
                ("record", Part::Array(&record)),
            ]
        };
        let object = HashedObject::new(members(), "leaf").unwrap();
        let mut without = value.clone();
        without.as_object_mut().unwrap().remove("leaf");
        assert_eq!(object.bytes(), reference(&without).as_bytes());
        let whole = reference(&value);
        assert!(object.is_in(&whole) && !object.is_in(&whole.replace("\"T\"", "\"U\"")));
        assert!(!object.is_in(&whole.replace("\"leaf\"", "\"lazy\":1,\"leaf\"")));
        assert_eq!(json_bytes(&value), whole.len());
        assert_eq!(object.with(hash), whole);
        assert!(HashedObject::new(members(), "zz").is_err(), "nothing is behind it");
    }
}
