//! Responses assembled from JSON that is stored with the rows.
//!
//! The members of a response that change only when its row changes are rendered once, as a JSON object in a text column, in
//! the transaction that writes the row. A response copies that text and adds the members that are known only when it is
//! read, for example its authors. Rows are not decoded into structs and serialised again.

use super::{HostError, HostErrorCode, IntoResponse, RouteDescription, author, response};
use crate::abi;
use schemars::JsonSchema;
use serde::Serialize;
use std::marker::PhantomData;

/// Renders `value` as a JSON object for a row's text column.
///
/// ```
/// use plugin_api::render_json;
///
/// let rendered = render_json(&serde_json::json!({ "title": "Rain" }));
/// assert_eq!(rendered.ok().as_deref(), Some(r#"{"title":"Rain"}"#));
/// ```
pub fn render_json(value: &impl Serialize) -> Result<String, HostError> {
    serde_json::to_string(value).map_err(invalid)
}

/// The rendered parts of one JSON object: one text, or several whose members are joined.
pub trait RenderedObject {
    fn parts(&self) -> &[&str];
}

impl RenderedObject for &str {
    fn parts(&self) -> &[&str] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> RenderedObject for [&str; N] {
    fn parts(&self) -> &[&str] {
        self
    }
}

/// A 200 response with the JSON of a `T`.
///
/// ```
/// use plugin_api::{HandlerError, JsonSchema, RenderedJson};
///
/// #[derive(serde::Serialize, JsonSchema)]
/// struct NoteState {
///     stars: i64,
/// }
///
/// /// `rendered` is a text column, written with [`render_json`].
/// fn note(rendered: &str, stars: i64) -> Result<RenderedJson<NoteState>, HandlerError> {
///     Ok(RenderedJson::object(rendered, &NoteState { stars })?)
/// }
/// ```
pub struct RenderedJson<T> {
    json: Vec<u8>,
    has_authors: bool,
    schema: PhantomData<fn() -> T>,
}

/// Capacity for the members that are added to each object of a list.
const REST_BYTES: usize = 256;
/// Capacity for the members that are added to a single object.
const SINGLE_REST_BYTES: usize = 1536;

impl<T> RenderedJson<T> {
    /// An object with the members of `rendered`, then those of `rest`.
    pub fn object(rendered: impl RenderedObject, rest: &impl Serialize) -> Result<Self, HostError> {
        let parts = rendered.parts();
        let mut json = Vec::with_capacity(byte_count(parts) + SINGLE_REST_BYTES);
        let has_authors = push_object(&mut json, parts, rest)?;
        Ok(Self { json, has_authors, schema: PhantomData })
    }

    /// An object with a list `name` of such objects, then the members of `rest`.
    pub fn list<O: RenderedObject, R: Serialize>(
        name: &str,
        items: impl IntoIterator<Item = (O, R)>,
        rest: &impl Serialize,
    ) -> Result<Self, HostError> {
        let ListJson { json, has_authors } = ListJson::of_rendered(name, items, rest)?;
        Ok(Self { json, has_authors, schema: PhantomData })
    }
}

impl<T: JsonSchema> IntoResponse for RenderedJson<T> {
    fn into_response(self) -> abi::Response {
        response::full_json(200, self.json, self.has_authors)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        response::describe_json::<T>(describe, 200, "OK");
    }
}

/// An object with a list and other members, as JSON.
pub(super) struct ListJson {
    pub json: Vec<u8>,
    /// Whether the gateway must complete authors in it.
    pub has_authors: bool,
}

impl ListJson {
    /// A list `name` of these items, then the members of `rest`.
    pub fn of<T: Serialize>(name: &str, items: &[T], rest: &impl Serialize) -> Result<Self, HostError> {
        let mut json = Vec::with_capacity(REST_BYTES * (1 + items.len()));
        push_name(&mut json, name)?;
        let mut has_authors = author::write_json(&mut json, &items).map_err(invalid)?;
        has_authors |= push_members(&mut json, true, rest)?;
        Ok(Self { json, has_authors })
    }

    /// The same with items of rendered parts and other members.
    pub fn of_rendered<O: RenderedObject, R: Serialize>(
        name: &str,
        items: impl IntoIterator<Item = (O, R)>,
        rest: &impl Serialize,
    ) -> Result<Self, HostError> {
        let items: Vec<(O, R)> = items.into_iter().collect();
        // One allocation for the whole body.
        let rendered_bytes: usize = items.iter().map(|(rendered, _)| byte_count(rendered.parts())).sum();
        let mut json = Vec::with_capacity(rendered_bytes + REST_BYTES * (1 + items.len()));
        push_name(&mut json, name)?;
        json.push(b'[');
        let mut has_authors = false;
        for (index, (rendered, rest)) in items.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            has_authors |= push_object(&mut json, rendered.parts(), rest)?;
        }
        json.push(b']');
        has_authors |= push_members(&mut json, true, rest)?;
        Ok(Self { json, has_authors })
    }
}

/// Begins an object with the name of its first member.
fn push_name(json: &mut Vec<u8>, name: &str) -> Result<(), HostError> {
    json.push(b'{');
    serde_json::to_writer(&mut *json, name).map_err(invalid)?;
    json.push(b':');
    Ok(())
}

fn byte_count(parts: &[&str]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

/// Returns whether it has authors that the gateway must complete.
fn push_object(json: &mut Vec<u8>, parts: &[&str], rest: &impl Serialize) -> Result<bool, HostError> {
    json.push(b'{');
    let mut has_members = false;
    for part in parts {
        let members = part.strip_prefix('{').and_then(|open| open.strip_suffix('}'));
        let members = members.ok_or_else(|| HostError::new(HostErrorCode::Invalid, "a row keeps no JSON object"))?;
        if has_members && !members.is_empty() {
            json.push(b',');
        }
        json.extend_from_slice(members.as_bytes());
        has_members |= !members.is_empty();
    }
    push_members(json, has_members, rest)
}

/// Appends members to an object that is still open, and closes it. Returns whether they have authors that the gateway must
/// complete.
fn push_members(json: &mut Vec<u8>, has_members: bool, rest: &impl Serialize) -> Result<bool, HostError> {
    let start = json.len();
    let has_authors = author::write_json(json, rest).map_err(invalid)?;
    match json.get_mut(start..) {
        Some([b'{', b'}']) => drop(json.remove(start)),
        Some([brace @ b'{', ..]) if has_members => *brace = b',',
        Some([b'{', ..]) => drop(json.remove(start)),
        _ => return Err(HostError::new(HostErrorCode::Invalid, "what is added to a kept object is no object")),
    }
    Ok(has_authors)
}

fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Invalid, error.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn text(json: Result<RenderedJson<Value>, HostError>) -> String {
        String::from_utf8(json.unwrap().json).unwrap()
    }

    #[test]
    fn rendered_and_added_members_make_one_object() {
        let rendered = render_json(&json!({ "title": "a } b" })).unwrap();
        assert_eq!(text(RenderedJson::object(rendered.as_str(), &json!({ "id": 1 }))), r#"{"title":"a } b","id":1}"#);
        assert_eq!(text(RenderedJson::object(rendered.as_str(), &json!({}))), rendered);
        assert_eq!(text(RenderedJson::object("{}", &json!({ "id": 1 }))), r#"{"id":1}"#);
        assert_eq!(text(RenderedJson::object("{}", &json!({}))), "{}");
    }

    #[test]
    fn several_rendered_parts_make_one_object() {
        let object = |parts: [&str; 3], rest: &Value| text(RenderedJson::object(parts, rest));
        assert_eq!(object([r#"{"a":1}"#, "{}", r#"{"b":2}"#], &json!({ "c": 3 })), r#"{"a":1,"b":2,"c":3}"#);
        assert_eq!(object(["{}", r#"{"b":2}"#, "{}"], &json!({})), r#"{"b":2}"#);
        assert_eq!(object(["{}", "{}", "{}"], &json!({})), "{}");
        assert!(RenderedJson::<Value>::object(["{}", "null"], &json!({})).is_err());
    }

    #[test]
    fn a_list_is_followed_by_the_added_members() {
        let items = [(r#"{"a":1}"#, json!({ "b": 2 })), ("{}", json!({ "b": 3 }))];
        let list = RenderedJson::list("items", items, &json!({ "total": 2 }));
        assert_eq!(text(list), r#"{"items":[{"a":1,"b":2},{"b":3}],"total":2}"#);
        let items = [([r#"{"a":1}"#, r#"{"b":2}"#], json!({ "c": 3 }))];
        assert_eq!(text(RenderedJson::list("items", items, &json!({}))), r#"{"items":[{"a":1,"b":2,"c":3}]}"#);
        let empty: [(&str, Value); 0] = [];
        assert_eq!(text(RenderedJson::list("items", empty, &json!({}))), r#"{"items":[]}"#);
    }

    #[test]
    fn a_part_that_is_not_an_object_is_an_error() {
        for part in ["", "}", "[1]", "{", r#""text""#] {
            assert!(RenderedJson::<Value>::object(part, &json!({})).is_err(), "{part}");
        }
        assert!(RenderedJson::<Value>::object("{}", &json!([1])).is_err());
    }
}
