//! Whether a text is a [`super::CvRecord`], told without keeping it: the gateway compares each contribution, and only its reader needs the values.
//!
//! The rule: what has this shape is a `CvRecord`.

use crate::values::Hash256;
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use std::{borrow::Cow, collections::BTreeMap, fmt};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(dead_code, reason = "its fields are the shape")]
pub struct CvRecordShape {
    covers: Vec<Text>,
    claims: Vec<ClaimShape>,
    left_out: BTreeMap<String, u64>,
    too_large: BTreeMap<String, u64>,
    summary: Members,
    activity_types: Vec<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "its fields are the shape")]
struct ClaimShape {
    kind: Text,
    id: Text,
    stated_at: Option<i64>,
    fields: Members,
    logs: Vec<LogShape>,
    source: Option<Text>,
    note: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "its fields are the shape")]
struct LogShape {
    contract: Text,
    event: Text,
    tx: Option<Hash256>,
}

/// A text, of which nothing is kept.
#[derive(Debug)]
struct Text;

/// An object.
#[derive(Debug, Default)]
struct Members;

/// Any value.
struct Anything;

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Text, E> {
                Ok(Text)
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AnyVisitor).map(|_| Self)
    }
}

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }
}

/// Reads what a `serde_json::Value` reads: values that are only skipped may be deeper, and their numbers larger.
struct AnyVisitor;

/// What `serde_json` writes in place of a `RawValue`, and reads as one.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Anything;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_unit<E: Error>(self) -> Result<Anything, E> {
        Ok(Anything)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Anything, A::Error> {
        while items.next_element::<Anything>()?.is_some() {}
        Ok(Anything)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Anything, A::Error> {
        while let Some(Name(name)) = members.next_key()? {
            if name == RAW_VALUE {
                members.next_value::<IgnoredAny>()?;
                return Err(A::Error::custom(format!("no member is called {RAW_VALUE}")));
            }
            members.next_value::<Anything>()?;
        }
        Ok(Anything)
    }
}

/// The name of a member.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::{super::CvRecord, *};

    const CLAIM: &str = r#"{"kind":"Feedback","id":"feedback:1","statedAt":7,"fields":{"a":[1,"x",{"b":null}]},"logs":[
        {"contract":"bank","event":"Opened","tx":null}],"source":null,"note":"é\n"}"#;

    #[test]
    fn what_has_the_shape_is_a_record() {
        let hash = format!("\"0x{}\"", "ab".repeat(32));
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let of = |claim: String| format!(r#"{{"claims":[{claim}]}}"#);
        let with = |from: &str, to: &str| of(CLAIM.replace(from, to));
        for (text, is_record) in [
            ("{}".to_owned(), true),
            (r#"{"covers":["A"],"leftOut":{"A":1},"summary":{"a":1e3},"activityTypes":[],"more":1}"#.to_owned(), true),
            (of(CLAIM.to_owned()), true),
            (with("\"tx\":null", &format!("\"tx\":{hash}")), true),
            (with(r#","statedAt":7"#, ""), true),
            (with("\"x\"", &deep(90)), true),
            (with("\"x\"", &deep(140)), false),
            (with("\"x\"", "1e999"), false),
            (with("\"x\"", r#""\ud800""#), false),
            (with("\"x\"", &format!(r#"{{"{RAW_VALUE}":"["}}"#)), false),
            (with("\"tx\":null", "\"tx\":\"0x\""), false),
            (with(r#""kind":"Feedback","#, ""), false),
            (with(r#""kind":"Feedback","#, r#""kind":"A","kind":"B","#), false),
            (with("\"fields\":{", "\"fields\":[],\"_\":{"), false),
            (with(":7", ":7.5"), false),
            (r#"{"covers":[1]}"#.to_owned(), false),
            (r#"{"leftOut":{"A":-1}}"#.to_owned(), false),
            ("7".to_owned(), false),
        ] {
            let has_shape = serde_json::from_str::<CvRecordShape>(&text).is_ok();
            let is_read = serde_json::from_str::<CvRecord>(&text).is_ok();
            assert_eq!((has_shape, is_read), (is_record, is_record), "{text}");
        }
    }
}
