//! Canonical JSON (RFC 8785): the text of a value that is hashed and signed.

use crate::{HostError, HostErrorCode};
use serde_json::{Map, Value};

/// The largest integer that a number of JSON has exactly; a larger one is written as a fraction is.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// The canonical text of a value.
///
/// ```
/// use plugin_api::format::canonical_json;
/// use serde_json::json;
///
/// let text = canonical_json(&json!({ "b": [1, 1.50, null], "a": "é\n" }));
/// assert_eq!(text.ok().as_deref(), Some("{\"a\":\"é\\n\",\"b\":[1,1.5,null]}"));
/// ```
pub fn canonical_json(value: &Value) -> Result<String, HostError> {
    let mut text = Vec::with_capacity(256);
    write_canonical(value, &mut text)?;
    String::from_utf8(text).map_err(internal)
}

/// Appends the canonical text of a value, for a text that is put together of several.
///
/// ```
/// use plugin_api::{HostError, format::write_canonical};
/// use serde_json::json;
///
/// let mut text = b"{\"data\":".to_vec();
/// write_canonical(&json!({ "b": 1, "a": 2 }), &mut text)?;
/// text.push(b'}');
/// assert_eq!(text, b"{\"data\":{\"a\":2,\"b\":1}}");
/// # Ok::<(), HostError>(())
/// ```
pub fn write_canonical(value: &Value, text: &mut Vec<u8>) -> Result<(), HostError> {
    match value {
        Value::Null => text.extend_from_slice(b"null"),
        Value::Bool(flag) => text.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Number(number) => {
            let is_exact = number.as_i64().is_some_and(|integer| integer.unsigned_abs() <= SAFE_INTEGER_MAX);
            if is_exact {
                serde_json::to_writer(text, number).map_err(internal)?;
            } else {
                serde_json_canonicalizer::to_writer(number, text).map_err(internal)?;
            }
        }
        // Both forms escape the same characters in the same way.
        Value::String(string) => serde_json::to_writer(text, string).map_err(internal)?,
        Value::Array(items) => {
            text.push(b'[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(b',');
                }
                write_canonical(item, text)?;
            }
            text.push(b']');
        }
        Value::Object(members) => write_object(members, text)?,
    }
    Ok(())
}

fn write_object(members: &Map<String, Value>, text: &mut Vec<u8>) -> Result<(), HostError> {
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    // By UTF-16 code units: of ASCII names the order of their bytes.
    if members.keys().all(|name| name.is_ascii()) {
        sorted.sort_unstable_by_key(|(name, _)| *name);
    } else {
        sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    }
    text.push(b'{');
    for (place, (name, value)) in sorted.into_iter().enumerate() {
        if place > 0 {
            text.push(b',');
        }
        serde_json::to_writer(&mut *text, name).map_err(internal)?;
        text.push(b':');
        write_canonical(value, text)?;
    }
    text.push(b'}');
    Ok(())
}

fn internal(error: impl std::fmt::Display) -> HostError {
    HostError::new(HostErrorCode::Internal, format!("a value has no canonical form: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn is_the_reference(value: &Value) -> bool {
        let reference = serde_json_canonicalizer::to_string(value).map_err(|error| error.to_string());
        canonical_json(value).map_err(|error| error.to_string()) == reference
    }

    #[test]
    fn the_text_is_that_of_the_canonicalizer() {
        let controls: String = (0..0x80_u8).map(char::from).collect();
        for value in [
            json!(null),
            json!([true, false, null, [], {}]),
            json!([0, -1, 9_007_199_254_740_991_i64, -9_007_199_254_740_991_i64]),
            json!([9_007_199_254_740_992_i64, u64::MAX, i64::MIN, 1.5, 1e21, 1e-7, 4.67, -0.0, 100.0, 1e300]),
            json!(controls),
            json!({ "b": 1, "a": { "\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7 } }),
            json!({ "": "", "zz": "\u{2028}\u{7f}\u{10ffff}", "z": [{ "y": 1, "x": 2 }] }),
        ] {
            assert!(is_the_reference(&value), "{value}: {:?}", canonical_json(&value));
        }
    }

    proptest! {
        #[test]
        fn any_text_and_number_is_that_of_the_canonicalizer(
            names in prop::collection::vec(".*", 0..4),
            text in ".*",
            integer: i64,
            fraction in any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()),
        ) {
            let mut members: Map<String, Value> = names.into_iter().map(|name| (name, json!(integer))).collect();
            members.insert(text.clone(), json!([text, fraction, integer]));
            prop_assert!(is_the_reference(&Value::Object(members)));
        }
    }
}
