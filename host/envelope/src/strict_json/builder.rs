//! Builds the value, and refuses what the grammar allows but parsers understand differently.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::error::{Position, StrictJsonError};

/// Above this, neighbouring integers have the same double.
const EXACT_MAX: u64 = 1 << 53;
const PATH_MAX_CHARS: usize = 120;

/// Returns the value, and whether it contains a number above 2^53.
pub(super) fn build(text: &str) -> Result<(Value, bool), StrictJsonError> {
    let state = BuildState::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let built = Node { state: &state, path: Path::Root }.deserialize(&mut deserializer);
    let value = built.and_then(|value| deserializer.end().map(|()| value));
    value
        .map(|value| (value, state.large_number.get()))
        .map_err(|error| state.error.take().unwrap_or_else(|| syntax_error(&error)))
}

#[derive(Default)]
struct BuildState {
    /// The typed error, because serde's errors hold only text.
    error: RefCell<Option<StrictJsonError>>,
    large_number: Cell<bool>,
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
    state: &'a BuildState,
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
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        if value > EXACT_MAX {
            self.state.large_number.set(true);
        }
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > EXACT_MAX {
            self.state.large_number.set(true);
        }
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if let Some(integer) = as_exact_integer(value) {
            return Ok(integer.into());
        }
        if value.fract() == 0.0 {
            self.state.large_number.set(true);
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.check_text(value)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.check_text(&value)?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let path = Path::Index { parent: &self.path, index: items.len() };
            match sequence.next_element_seed(Node { state: self.state, path })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let node = Node { state: self.state, path: Path::Key { parent: &self.path, key: &key } };
            node.check_text(&key)?;
            if object.contains_key(&key) {
                return Err(node.fail(StrictJsonError::DuplicateKey { path: node.path.shortened() }));
            }
            let member = members.next_value_seed(node)?;
            object.insert(key, member);
        }
        Ok(Value::Object(object))
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
