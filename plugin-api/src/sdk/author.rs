//! The author of something, as a member of a response. Handlers know addresses; names and agents belong to other plugins.
//!
//! The rule: nobody asks for names before or during a write. A response leaves the plugin with marks in place of its authors,
//! and the gateway completes all of them at once ([`crate::abi::Body::JsonWithAuthors`]), when no transaction is open.

use super::{Address, point};
use crate::abi::AUTHOR_MARK;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error as _};
use serde_json::ser::{CompactFormatter, Formatter};
use std::{
    borrow::Cow,
    cell::Cell,
    io::{Result, Write},
};

/// Who wrote or owns something: in the response `{address, name, agentId}`.
///
/// ```
/// # use plugin_api::{Address, Author, JsonSchema};
/// #[derive(serde::Serialize, JsonSchema)]
/// struct NoteView {
///     id: i64,
///     author: Author,
/// }
///
/// let view = NoteView { id: 1, author: Address::ZERO.into() };
/// // Only a response can hold it: a name may be another one when an event or a row is read.
/// assert!(serde_json::to_string(&view).is_err());
/// ```
///
/// It is read from a row as an address, so that a row and its view can be one struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// The gateway adds name and agent when the response leaves. Serialising it into anything but a response is an error.
    Address(Address),
    /// With its name, from [`super::HostHandle::authors`]: for frames of a topic and for copies that are sent elsewhere.
    Named(point::Author),
}

impl From<Address> for Author {
    fn from(address: Address) -> Self {
        Self::Address(address)
    }
}

impl From<point::Author> for Author {
    fn from(author: point::Author) -> Self {
        Self::Named(author)
    }
}

thread_local! {
    static IN_RESPONSE: Cell<bool> = const { Cell::new(false) };
}

/// How an author is passed through the serializer to [`ResponseFormatter`]: as bytes that begin so.
const TAG: &[u8; 8] = b"\x01author:";
const ADDRESS_BYTES: usize = 20;

impl Serialize for Author {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Named(author) => author.serialize(serializer),
            Self::Address(Address(address)) if IN_RESPONSE.get() => {
                let mut tagged = [0; TAG.len() + ADDRESS_BYTES];
                let (tag, bytes) = tagged.split_at_mut(TAG.len());
                tag.copy_from_slice(TAG);
                bytes.copy_from_slice(address);
                serializer.serialize_bytes(&tagged)
            }
            Self::Address(_) => Err(S::Error::custom("an author without a name can be part of a response only")),
        }
    }
}

impl<'de> Deserialize<'de> for Author {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Address::deserialize(deserializer).map(Self::Address)
    }
}

impl JsonSchema for Author {
    fn schema_name() -> Cow<'static, str> {
        point::Author::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        point::Author::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        point::Author::json_schema(generator)
    }
}

/// Appends the JSON of a response's part. Returns whether it has authors that the gateway must complete.
pub(crate) fn write_json(json: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<bool> {
    let has_authors = Cell::new(false);
    let _response = InResponse::enter();
    value.serialize(&mut serde_json::Serializer::with_formatter(
        json,
        ResponseFormatter { has_authors: &has_authors },
    ))?;
    Ok(has_authors.get())
}

/// Until it is dropped, this thread serialises a response.
struct InResponse {
    was_in_response: bool,
}

impl InResponse {
    fn enter() -> Self {
        Self { was_in_response: IN_RESPONSE.replace(true) }
    }
}

impl Drop for InResponse {
    fn drop(&mut self) {
        IN_RESPONSE.set(self.was_in_response);
    }
}

/// Compact JSON in which authors are marks.
struct ResponseFormatter<'f> {
    has_authors: &'f Cell<bool>,
}

impl Formatter for ResponseFormatter<'_> {
    fn write_byte_array<W: ?Sized + Write>(&mut self, writer: &mut W, value: &[u8]) -> Result<()> {
        match value.strip_prefix(TAG) {
            Some(address) if address.len() == ADDRESS_BYTES => {
                self.has_authors.set(true);
                writer.write_all(&[AUTHOR_MARK])?;
                writer.write_all(address)
            }
            _ => CompactFormatter.write_byte_array(writer, value),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Serialize)]
    struct View {
        #[serde(flatten)]
        state: State,
        body: &'static str,
    }

    #[derive(Serialize)]
    struct State {
        author: Author,
        editor: Option<Author>,
    }

    fn view(author: Author, editor: Option<Author>) -> View {
        View { state: State { author, editor }, body: "\u{1}author:" }
    }

    fn named() -> Author {
        point::Author { address: Address::ZERO, name: Some("n".into()), agent_id: Some(7) }.into()
    }

    #[test]
    fn a_response_has_a_mark_for_each_author() {
        let mut json = Vec::new();
        let address = Address([0xfe; 20]);
        assert!(write_json(&mut json, &view(address.into(), Some(Address::ZERO.into()))).unwrap());
        let mark = |address: Address| [&[AUTHOR_MARK], address.0.as_slice()].concat();
        let expected = [
            br#"{"author":"#.to_vec(),
            mark(address),
            br#","editor":"#.to_vec(),
            mark(Address::ZERO),
            // The escape of a text's own control character is not the mark.
            br#","body":"\u0001author:"}"#.to_vec(),
        ];
        assert_eq!(json, expected.concat());
    }

    #[test]
    fn a_response_without_unnamed_authors_is_plain_json() {
        let (mut json, value) = (Vec::new(), view(named(), None));
        assert!(!write_json(&mut json, &value).unwrap());
        assert_eq!(json, serde_json::to_vec(&value).unwrap());
    }

    #[test]
    fn only_a_response_holds_an_author_without_a_name() {
        let value = view(Address::ZERO.into(), None);
        assert!(serde_json::to_value(&value).is_err());
        assert!(serde_json::to_vec(&value).is_err());
        assert!(write_json(&mut Vec::new(), &value).unwrap());
        assert!(serde_json::to_vec(&value).is_err(), "also after a response was written");
    }

    #[test]
    fn an_author_is_read_from_a_row_as_its_address() {
        let address = Address([7; 20]);
        assert_eq!(serde_json::from_value::<Author>(json!(address)).unwrap(), Author::Address(address));
    }
}
