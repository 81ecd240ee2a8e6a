//! Writes the canonical form (RFC 8785) while it parses, and refuses what the grammar allows but parsers understand
//! differently. Rule: no tree of values is built. A member is written when it arrives; an object whose keys did not come in
//! order is put in order when it ends.

use super::document::{Document, EnvelopeMembers, Member};
use super::error::{Position, StrictJsonError};
use super::keys::{KeyedMember, Keys, MemberKey};
use request_signing::canonical::{is_array_index, key_order, write_number};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use std::cell::{Cell, RefCell};
use std::fmt;

/// Above this, neighbouring integers have the same double.
const EXACT_MAX: u64 = 1 << 53;
const PATH_MAX_CHARS: usize = 120;

pub(super) struct Written {
    pub document: Document,
    pub envelope: EnvelopeMembers,
    /// It holds a number above 2^53.
    pub has_large_number: bool,
}

/// With `takes_envelope`, the members of the envelope are left out of the document, and returned.
pub(super) fn write(text: &str, takes_envelope: bool) -> Result<Written, StrictJsonError> {
    let state = WriterState { takes_envelope, ..WriterState::default() };
    state.text.borrow_mut().reserve(text.len());
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let written = Node { state: &state, path: Path::Root }.deserialize(&mut deserializer);
    if let Err(error) = written.and_then(|()| deserializer.end()) {
        return Err(state.error.take().unwrap_or_else(|| syntax_error(&error)));
    }
    let (text, members) = (state.text.take(), state.root_members.take());
    let document = Document::new(text, members, state.has_index_key.get());
    Ok(Written { document, envelope: state.envelope.take(), has_large_number: state.large_number.get() })
}

#[derive(Default)]
struct WriterState {
    /// The typed error, because serde's errors hold only text.
    error: RefCell<Option<StrictJsonError>>,
    text: RefCell<String>,
    large_number: Cell<bool>,
    has_index_key: Cell<bool>,
    takes_envelope: bool,
    envelope: RefCell<EnvelopeMembers>,
    root_members: RefCell<Vec<Member>>,
}

/// The path of a value. It lives on the stack of the recursion and becomes text only for an error.
#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Key { parent: &'a Path<'a>, key: &'a str },
    Index { parent: &'a Path<'a>, index: usize },
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("$"),
            Self::Key { parent, key } if is_plain(key) => write!(f, "{parent}.{key}"),
            Self::Key { parent, key } => write!(f, "{parent}[{key:?}]"),
            Self::Index { parent, index } => write!(f, "{parent}[{index}]"),
        }
    }
}

impl Path<'_> {
    /// Keys come from the client and may be long.
    fn shortened(&self) -> String {
        let path = self.to_string();
        match path.char_indices().nth(PATH_MAX_CHARS) {
            Some((end, _)) => format!("{}…", &path[..end]),
            None => path,
        }
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[derive(Clone, Copy)]
struct Node<'a> {
    state: &'a WriterState,
    path: Path<'a>,
}

impl Node<'_> {
    fn fail<E: serde::de::Error>(&self, error: StrictJsonError) -> E {
        self.state.error.replace(Some(error));
        E::custom("refused")
    }

    fn check_text<E: serde::de::Error>(&self, text: &str) -> Result<(), E> {
        if text.contains('\0') {
            return Err(self.fail(StrictJsonError::NulCharacter { path: self.path.shortened() }));
        }
        Ok(())
    }

    fn push(&self, text: &str) {
        self.state.text.borrow_mut().push_str(text);
    }

    fn length(&self) -> usize {
        self.state.text.borrow().len()
    }

    fn write_text<E: serde::de::Error>(&self, text: &str) -> Result<(), E> {
        self.push(&serde_json::to_string(text).map_err(E::custom)?);
        Ok(())
    }

    /// Text that was written without an escape needs none.
    fn write_plain(&self, text: &str) {
        let mut written = self.state.text.borrow_mut();
        written.push('"');
        written.push_str(text);
        written.push('"');
    }

    fn write_key<E: serde::de::Error>(&self, key: &MemberKey<'_>) -> Result<(), E> {
        if key.has_escape() {
            self.write_text(key.as_str())?;
        } else {
            self.write_plain(key.as_str());
        }
        self.push(":");
        Ok(())
    }

    fn write_number<E: serde::de::Error>(&self, number: &Number) -> Result<(), E> {
        write_number(number, &mut self.state.text.borrow_mut()).map_err(E::custom)
    }

    fn is_of_envelope(&self, key: &str) -> bool {
        self.state.takes_envelope && matches!(self.path, Path::Root) && EnvelopeMembers::is_one(key)
    }

    fn has_envelope(&self, key: &str) -> bool {
        self.state.envelope.borrow().has(key)
    }

    /// Takes what was written from `start` on as a member of the envelope.
    fn take_envelope<E: serde::de::Error>(&self, key: &str, start: usize) -> Result<(), E> {
        let mut text = self.state.text.borrow_mut();
        let value: Value = serde_json::from_str(&text[start..]).map_err(E::custom)?;
        text.truncate(start);
        self.state.envelope.borrow_mut().set(key, value);
        Ok(())
    }

    /// Orders the members of the object that began at `start`.
    fn order(&self, start: usize, mut members: Vec<KeyedMember<'_>>) -> Vec<Member> {
        if !members.is_sorted_by(|a, b| key_order(a.key.as_str(), b.key.as_str()).is_le()) {
            members.sort_unstable_by(|a, b| key_order(a.key.as_str(), b.key.as_str()));
            let mut text = self.state.text.borrow_mut();
            let unordered = text.split_off(start);
            for (position, KeyedMember { member, .. }) in members.iter_mut().enumerate() {
                text.push(if position == 0 { '{' } else { ',' });
                let written = &unordered[member.start - start..member.end - start];
                let moved_to = text.len();
                text.push_str(written);
                *member = Member { start: moved_to, value: moved_to + (member.value - member.start), end: text.len() };
            }
        }
        members.into_iter().map(|member| member.member).collect()
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.push("null");
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.push(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        if value > EXACT_MAX {
            self.state.large_number.set(true);
        }
        self.write_number(&value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        if value.unsigned_abs() > EXACT_MAX {
            self.state.large_number.set(true);
        }
        self.write_number(&value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        if let Some(integer) = as_exact_integer(value) {
            return self.write_number(&integer.into());
        }
        if value.fract() == 0.0 {
            self.state.large_number.set(true);
        }
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        self.write_number(&number)
    }

    /// A text with no escape in it: so with no U+0000 either.
    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<(), E> {
        self.write_plain(value);
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.check_text(value)?;
        self.write_text(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        self.push("[");
        let mut index = 0;
        loop {
            let start = self.length();
            if index > 0 {
                self.push(",");
            }
            let path = Path::Index { parent: &self.path, index };
            if sequence.next_element_seed(Node { state: self.state, path })?.is_none() {
                self.state.text.borrow_mut().truncate(start);
                self.push("]");
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let object_start = self.length();
        let mut members: Vec<KeyedMember<'de>> = Vec::new();
        let mut keys = Keys::default();
        self.push("{");
        while let Some(key) = object.next_key::<MemberKey<'de>>()? {
            let node = Node { state: self.state, path: Path::Key { parent: &self.path, key: key.as_str() } };
            if key.has_escape() {
                node.check_text(key.as_str())?;
            }
            let is_of_envelope = self.is_of_envelope(key.as_str());
            let is_new = if is_of_envelope { !self.has_envelope(key.as_str()) } else { keys.is_new(&members, &key) };
            if !is_new {
                return Err(node.fail(StrictJsonError::DuplicateKey { path: node.path.shortened() }));
            }
            if is_of_envelope {
                let start = self.length();
                object.next_value_seed(node)?;
                self.take_envelope(key.as_str(), start)?;
                continue;
            }
            if is_array_index(key.as_str()) {
                self.state.has_index_key.set(true);
            }
            if !members.is_empty() {
                self.push(",");
            }
            let start = self.length();
            self.write_key(&key)?;
            let value = self.length();
            object.next_value_seed(node)?;
            members.push(KeyedMember { key, member: Member { start, value, end: self.length() } });
        }
        let members = self.order(object_start, members);
        self.push("}");
        if matches!(self.path, Path::Root) {
            self.state.root_members.replace(members);
        }
        Ok(())
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "|value| is at most 2^53, which both types hold exactly"
)]
fn as_exact_integer(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= EXACT_MAX as f64).then_some(value as i64)
}

/// serde_json distinguishes its errors only by text; a test checks these texts.
fn syntax_error(error: &serde_json::Error) -> StrictJsonError {
    let position = Position { line: error.line(), column: error.column() };
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    match reason {
        "trailing characters" => StrictJsonError::TrailingText { position },
        "recursion limit exceeded" => StrictJsonError::TooDeep { position },
        // The second one occurs when no other escape follows the first half.
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            StrictJsonError::LoneSurrogate { position }
        }
        "number out of range" => StrictJsonError::NumberTooLarge { position },
        _ => StrictJsonError::Syntax { reason: reason.to_owned(), position },
    }
}
