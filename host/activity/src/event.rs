//! An event that may enter the log.
//!
//! The rule: an event is checked once, where a plugin publishes it, and its data stays the bytes that the plugin made, but for long texts of the
//! chain.

use plugin_api::abi::{HostError, HostErrorCode, NewEvent};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;
use std::{borrow::Cow, fmt};

/// The type of an event that names events which are no longer true. Only the gateway publishes it.
pub(crate) const RETRACTION_TYPE: &str = "chain.retracted";

/// The data goes to every reader of a stream, and stays in memory while the frame is in the ring. With the other members of its
/// event, each byte of keys and subject written as an escape, it has less than the 65,533 bytes of an entry of the transparency log.
pub const DATA_BYTES_MAX: usize = 56 * 1024;
/// To how many characters the texts of data that is too large are cut, the first that is enough.
const TEXT_CHARS_MAX: [usize; 3] = [4096, 512, 80];
const KIND_BYTES_MAX: usize = 64;
/// Longest unique key, and kind and id of a subject.
const KEY_BYTES_MAX: usize = 512;

/// An event whose type is a name and whose data is a JSON object.
#[derive(Clone, Debug)]
pub struct CheckedEvent(NewEvent);

impl CheckedEvent {
    /// The type of an event becomes an SSE line, and its data JSON: a plugin's mistake must not corrupt a stream.
    pub fn check(event: NewEvent) -> Result<Self, HostError> {
        let problem = kind_problem(&event.kind).or_else(|| key_problem(&event)).or_else(|| data_problem(&event.data));
        problem.map_or(Ok(Self(event)), |text| Err(HostError::new(HostErrorCode::Invalid, text)))
    }

    /// As [`Self::check`], of an event that a plugin derives from the chain. The texts of the chain have no bound, and who refuses one stops the
    /// index for good: in data that is too large, long texts are cut. The plugin's own rows have them whole.
    pub fn check_derived(mut event: NewEvent) -> Result<Self, HostError> {
        if event.data.len() > DATA_BYTES_MAX
            && let Some(data) = with_short_texts(&event.data)
        {
            event.data = data.into();
        }
        Self::check(event)
    }

    pub fn as_event(&self) -> &NewEvent {
        &self.0
    }

    pub fn into_event(self) -> NewEvent {
        self.0
    }

    /// The event with that unique key and time, where it has none of its own.
    pub fn with_defaults(mut self, unique_key: impl FnOnce() -> String, ts: i64) -> Self {
        if self.0.unique_key.is_none() {
            self.0.unique_key = Some(unique_key().into()).into();
        }
        if self.0.ts.is_none() {
            self.0.ts = Some(ts).into();
        }
        self
    }
}

fn kind_problem(kind: &str) -> Option<String> {
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-');
    if kind == RETRACTION_TYPE {
        return Some(format!("only the gateway publishes {kind}"));
    }
    let is_kind = !kind.is_empty() && kind.len() <= KIND_BYTES_MAX && kind.bytes().all(is_name);
    (!is_kind).then(|| format!("{kind:?} is no event type: lower-case letters, digits, dots, at most {KIND_BYTES_MAX}"))
}

fn key_problem(event: &NewEvent) -> Option<String> {
    let subject = event.subject.as_ref().into_option().into_iter().flat_map(|subject| [&subject.0, &subject.1]);
    let mut keys = subject.chain(event.unique_key.as_ref().into_option());
    let long = keys.find(|key| key.len() > KEY_BYTES_MAX)?;
    Some(format!("a key or subject of an event has {} bytes, at most {KEY_BYTES_MAX}", long.len()))
}

/// The object with texts of at most so many characters that it is small enough.
fn with_short_texts(data: &str) -> Option<String> {
    let object: Value = serde_json::from_str(data).ok()?;
    let shortened = TEXT_CHARS_MAX.into_iter().map(|chars_max| {
        let mut object = object.clone();
        shorten(&mut object, chars_max);
        object.to_string()
    });
    shortened.into_iter().find(|data| data.len() <= DATA_BYTES_MAX)
}

/// What is cut ends with an ellipsis.
fn shorten(value: &mut Value, chars_max: usize) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(chars_max) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, chars_max)),
        Value::Object(members) => members.values_mut().for_each(|value| shorten(value, chars_max)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn data_problem(data: &str) -> Option<String> {
    if data.len() > DATA_BYTES_MAX {
        let bytes = data.len();
        return Some(format!("the data of an event has {bytes} bytes, at most {DATA_BYTES_MAX} go to every reader"));
    }
    let parsed: Result<DistinctMembers, _> = serde_json::from_str(data);
    parsed.err().map(|error| format!("the data of an event is no JSON object: {error}"))
}

/// An object, read without building anything but the list of its names. A name that is there twice would mean one thing to
/// one reader and another to the next.
struct DistinctMembers;

impl<'de> Deserialize<'de> for DistinctMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self)
    }
}

impl<'de> Visitor<'de> for DistinctMembers {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self, A::Error> {
        let mut names: Vec<Name<'de>> = Vec::new();
        while let Some((name, IgnoredAny)) = object.next_entry::<Name<'de>, IgnoredAny>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format!("the member `{}` is there twice", name.0)));
            }
            names.push(name);
        }
        Ok(self)
    }
}

/// Borrowed, unless it has escapes.
#[derive(PartialEq, Eq, Deserialize)]
struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use abi_stable::std_types::{RNone, RSome, RString, Tuple2};

    fn event(kind: &str, data: &str) -> NewEvent {
        let (kind, data) = (RString::from(kind).into(), data.into());
        NewEvent { kind, actor: RNone, subject: RNone, data, ts: RNone, unique_key: RNone }
    }

    #[test]
    fn the_data_of_a_good_event_stays_as_it_is() {
        let data = r#"{"b":1,"a":[1.0,"\n"]}"#;
        assert_eq!(CheckedEvent::check(event("post.create_2-x", data)).unwrap().as_event().data, data);
    }

    #[test]
    fn long_texts_of_the_chain_are_cut_and_stop_no_index() {
        let data = serde_json::json!({ "id": 7, "uri": "\u{1f600}".repeat(90_000), "tags": ["t", "x".repeat(9_000)] });
        let derived = event("a.b", &data.to_string());
        assert!(CheckedEvent::check(derived.clone()).is_err());
        let checked = CheckedEvent::check_derived(derived).unwrap().into_event();
        let cut: serde_json::Value = serde_json::from_str(&checked.data).unwrap();
        assert_eq!((&cut["id"], &cut["tags"][0]), (&data["id"], &data["tags"][0]));
        assert_eq!(cut["uri"].as_str().unwrap().chars().count(), 4097);
        assert!(cut["tags"][1].as_str().unwrap().ends_with('…'));
        let small = event("a.b", r#"{"uri" : "x"}"#);
        assert_eq!(CheckedEvent::check_derived(small.clone()).unwrap().into_event(), small);
    }

    #[test]
    fn what_would_corrupt_a_stream_is_refused() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(DATA_BYTES_MAX));
        for (kind, data, reason) in [
            ("", "{}", "is no event type"),
            ("Post", "{}", "is no event type"),
            ("a\nid: 9", "{}", "is no event type"),
            (&*"a".repeat(65), "{}", "is no event type"),
            (RETRACTION_TYPE, "{}", "only the gateway"),
            ("a.b", "[1]", "expected an object"),
            ("a.b", "", "no JSON"),
            ("a.b", "{", "no JSON"),
            ("a.b", "{}\n\nid: 9", "no JSON"),
            ("a.b", r#"{"a":1,"b":2,"a":3}"#, "`a` is there twice"),
            ("a.b", &*long, "at most 57344"),
        ] {
            let error = CheckedEvent::check(event(kind, data)).unwrap_err();
            assert!(error.is(HostErrorCode::Invalid) && error.message.contains(reason), "{kind:?} {data:.20}: {error}");
        }
    }

    #[test]
    fn keys_are_bounded() {
        let (short, long) = (RString::from("x".repeat(KEY_BYTES_MAX)), RString::from("x".repeat(KEY_BYTES_MAX + 1)));
        let check = |subject: &RString, key: &RString| {
            let subject = RSome(Tuple2("thread".into(), subject.clone()));
            CheckedEvent::check(NewEvent { subject, unique_key: RSome(key.clone()), ..event("a.b", "{}") })
        };
        assert!(check(&short, &short).is_ok());
        for error in [check(&long, &short), check(&short, &long)] {
            let said = error.unwrap_err().message;
            assert_eq!(said, "a key or subject of an event has 513 bytes, at most 512");
        }
    }

    #[test]
    fn defaults_leave_what_the_plugin_says() {
        let checked = |event| CheckedEvent::check(event).unwrap().with_defaults(|| "k".to_owned(), 7).into_event();
        let completed = checked(event("a.b", "{}"));
        assert_eq!((completed.unique_key, completed.ts), (RSome("k".into()), RSome(7)));
        let own = NewEvent { unique_key: RSome("own".into()), ts: RSome(1), ..event("a.b", "{}") };
        assert_eq!(checked(own.clone()), own);
    }
}
