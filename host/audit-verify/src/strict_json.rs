//! Reads JSON. The rule: an object that has a member twice is refused, because readers differ in which of the two they believe.

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};
use std::fmt;

/// The object of a line.
pub fn object(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str::<Strict>(line) {
        Ok(Strict(Value::Object(object))) => Ok(object),
        Ok(_) => Err("it is no JSON object".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.insert(name.clone(), value).is_some() {
                return Err(A::Error::custom(format!("it has the member {name:?} twice")));
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_is_there_twice_is_refused_at_any_depth() {
        assert!(object(r#"{"a":1,"b":{"a":2}}"#).is_ok());
        for text in [r#"{"a":1,"a":1}"#, r#"{"x":[{"a":1,"a":2}]}"#, r#"{"a":1,"\u0061":2}"#] {
            assert!(object(text).unwrap_err().contains("twice"), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_objects() {
        for text in ["", "[]", "1", "{", "{}{}", r#"{"a":"\ud800"}"#, "{\"a\":1}\u{0}"] {
            assert!(object(text).is_err(), "{text}");
        }
    }
}
