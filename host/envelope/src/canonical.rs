//! Canonical JSON: the text of a payload that is hashed.
//!
//! Rule: RFC 8785 comes first. Deployed JavaScript clients canonicalise by rebuilding objects with sorted keys, and a
//! JavaScript engine puts keys that look like array indices before all others; for payloads with such keys that order
//! is the second candidate. Both texts have the same members, so either signature is over the same payload.

use std::cmp::Ordering;
use std::iter;

use serde_json::Value;

#[derive(Debug, thiserror::Error)]
#[error("the payload has no canonical form")]
pub struct CanonicalError(#[source] serde_json::Error);

pub fn rfc8785(value: &Value) -> Result<String, CanonicalError> {
    serde_json_canonicalizer::to_string(value).map_err(CanonicalError)
}

/// The texts that a signer may have hashed, the most likely first, built lazily.
pub fn candidates(value: &Value) -> impl Iterator<Item = Result<String, CanonicalError>> {
    iter::once_with(|| rfc8785(value))
        .chain(iter::once_with(|| has_index_key(value).then(|| javascript_order(value))).flatten())
}

/// RFC 8785 except for the order of keys: array indices first, by number.
pub(crate) fn javascript_order(value: &Value) -> Result<String, CanonicalError> {
    let mut text = String::new();
    write_javascript_order(value, &mut text)?;
    Ok(text)
}

fn write_javascript_order(value: &Value, text: &mut String) -> Result<(), CanonicalError> {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by(|(a, _), (b, _)| compare_javascript_keys(a, b));
            text.push('{');
            for (position, (key, member)) in members.into_iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                text.push_str(&serde_json::to_string(key).map_err(CanonicalError)?);
                text.push(':');
                write_javascript_order(member, text)?;
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(',');
                }
                write_javascript_order(item, text)?;
            }
            text.push(']');
        }
        scalar => text.push_str(&rfc8785(scalar)?),
    }
    Ok(())
}

fn compare_javascript_keys(a: &str, b: &str) -> Ordering {
    match (array_index(a), array_index(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.encode_utf16().cmp(b.encode_utf16()),
    }
}

fn has_index_key(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, member)| array_index(key).is_some() || has_index_key(member)),
        Value::Array(items) => items.iter().any(has_index_key),
        _ => false,
    }
}

/// ECMAScript's array index: an integer below 2^32 - 1, written without sign or leading zero.
fn array_index(key: &str) -> Option<u32> {
    let is_integer = key == "0" || (key.bytes().all(|b| b.is_ascii_digit()) && !key.starts_with('0'));
    let index = is_integer.then(|| key.parse().ok()).flatten()?;
    (index != u32::MAX).then_some(index)
}
