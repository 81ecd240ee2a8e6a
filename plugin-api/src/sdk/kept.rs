//! Answers from JSON that rows keep.
//!
//! What an answer shows of a row and changes only with the row is written once, as an object in a text column, by whoever
//! writes the row and in the same transaction. An answer takes that text as it stands and adds what is known only when it is
//! read, the names of authors for instance. Nothing becomes a struct in order to become JSON again.

use super::{Describe, HostError, HostErrorCode, IntoAnswer, answer};
use crate::abi;
use schemars::JsonSchema;
use serde::Serialize;
use std::marker::PhantomData;

/// What a row is to keep: `value` as a JSON object.
pub fn keep(value: &impl Serialize) -> Result<String, HostError> {
    serde_json::to_string(value).map_err(invalid)
}

/// What rows keep of one object: a text, or several whose members make the object together.
pub trait Kept {
    fn objects(&self) -> &[&str];
}

impl Kept for &str {
    fn objects(&self) -> &[&str] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> Kept for [&str; N] {
    fn objects(&self) -> &[&str] {
        self
    }
}

/// The JSON of a `T`, as an answer with 200.
pub struct KeptJson<T> {
    json: Vec<u8>,
    of: PhantomData<fn() -> T>,
}

/// Room for what is added to a row of a list.
const REST_BYTES: usize = 256;
/// Room for what is added to a row that is shown alone.
const REST_ALONE_BYTES: usize = 1536;

impl<T> KeptJson<T> {
    /// An object with the members that a row keeps, then those of `rest`.
    pub fn object(kept: impl Kept, rest: &impl Serialize) -> Result<Self, HostError> {
        let objects = kept.objects();
        let mut json = Vec::with_capacity(bytes(objects) + REST_ALONE_BYTES);
        push_object(&mut json, objects, rest)?;
        Ok(Self { json, of: PhantomData })
    }

    /// An object with a list, `name`, of such objects, then the members of `rest`.
    pub fn list<K: Kept, R: Serialize>(
        name: &str,
        items: impl IntoIterator<Item = (K, R)>,
        rest: &impl Serialize,
    ) -> Result<Self, HostError> {
        let items: Vec<(K, R)> = items.into_iter().collect();
        // So that what is made is not moved while it grows.
        let kept_bytes: usize = items.iter().map(|(kept, _)| bytes(kept.objects())).sum();
        let mut json = Vec::with_capacity(kept_bytes + REST_BYTES * (1 + items.len()));
        json.push(b'{');
        serde_json::to_writer(&mut json, name).map_err(invalid)?;
        json.extend_from_slice(b":[");
        for (index, (kept, rest)) in items.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            push_object(&mut json, kept.objects(), rest)?;
        }
        json.push(b']');
        push_members(&mut json, true, rest)?;
        Ok(Self { json, of: PhantomData })
    }
}

impl<T: JsonSchema> IntoAnswer for KeptJson<T> {
    fn into_response(self) -> abi::Response {
        answer::full(200, answer::JSON, self.json)
    }

    fn describe(describe: &mut Describe<'_>) {
        answer::describe_json::<T>(describe, 200, "OK");
    }
}

fn bytes(objects: &[&str]) -> usize {
    objects.iter().map(|object| object.len()).sum()
}

fn push_object(json: &mut Vec<u8>, kept: &[&str], rest: &impl Serialize) -> Result<(), HostError> {
    json.push(b'{');
    let mut has_members = false;
    for object in kept {
        let members = object.strip_prefix('{').and_then(|open| open.strip_suffix('}'));
        let members = members.ok_or_else(|| HostError::new(HostErrorCode::Invalid, "a row keeps no JSON object"))?;
        if has_members && !members.is_empty() {
            json.push(b',');
        }
        json.extend_from_slice(members.as_bytes());
        has_members |= !members.is_empty();
    }
    push_members(json, has_members, rest)
}

/// Adds members to an object that is open, and closes it.
fn push_members(json: &mut Vec<u8>, has_members: bool, rest: &impl Serialize) -> Result<(), HostError> {
    let start = json.len();
    serde_json::to_writer(&mut *json, rest).map_err(invalid)?;
    match json.get_mut(start..) {
        Some([b'{', b'}']) => drop(json.remove(start)),
        Some([brace @ b'{', ..]) if has_members => *brace = b',',
        Some([b'{', ..]) => drop(json.remove(start)),
        _ => return Err(HostError::new(HostErrorCode::Invalid, "what is added to a kept object is no object")),
    }
    Ok(())
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn text(kept: Result<KeptJson<Value>, HostError>) -> String {
        String::from_utf8(kept.unwrap().json).unwrap()
    }

    #[test]
    fn the_members_of_both_make_one_object() {
        let kept = keep(&json!({ "title": "a } b" })).unwrap();
        assert_eq!(text(KeptJson::object(kept.as_str(), &json!({ "id": 1 }))), r#"{"title":"a } b","id":1}"#);
        assert_eq!(text(KeptJson::object(kept.as_str(), &json!({}))), kept);
        assert_eq!(text(KeptJson::object("{}", &json!({ "id": 1 }))), r#"{"id":1}"#);
        assert_eq!(text(KeptJson::object("{}", &json!({}))), "{}");
    }

    #[test]
    fn several_kept_objects_make_one() {
        let made = |kept: [&str; 3], rest: &Value| text(KeptJson::object(kept, rest));
        assert_eq!(made([r#"{"a":1}"#, "{}", r#"{"b":2}"#], &json!({ "c": 3 })), r#"{"a":1,"b":2,"c":3}"#);
        assert_eq!(made(["{}", r#"{"b":2}"#, "{}"], &json!({})), r#"{"b":2}"#);
        assert_eq!(made(["{}", "{}", "{}"], &json!({})), "{}");
        assert!(KeptJson::<Value>::object(["{}", "null"], &json!({})).is_err());
    }

    #[test]
    fn a_list_is_followed_by_what_is_said_of_it() {
        let items = [(r#"{"a":1}"#, json!({ "b": 2 })), ("{}", json!({ "b": 3 }))];
        let list = KeptJson::list("items", items, &json!({ "total": 2 }));
        assert_eq!(text(list), r#"{"items":[{"a":1,"b":2},{"b":3}],"total":2}"#);
        let items = [([r#"{"a":1}"#, r#"{"b":2}"#], json!({ "c": 3 }))];
        assert_eq!(text(KeptJson::list("items", items, &json!({}))), r#"{"items":[{"a":1,"b":2,"c":3}]}"#);
        let empty: [(&str, Value); 0] = [];
        assert_eq!(text(KeptJson::list("items", empty, &json!({}))), r#"{"items":[]}"#);
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for kept in ["", "}", "[1]", "{", r#""text""#] {
            assert!(KeptJson::<Value>::object(kept, &json!({})).is_err(), "{kept}");
        }
        assert!(KeptJson::<Value>::object("{}", &json!([1])).is_err());
    }
}
