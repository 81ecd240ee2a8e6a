//! Canonical JSON: the text of a payload that is hashed.
//!
//! Rule: RFC 8785 comes first. Deployed JavaScript clients canonicalise by rebuilding objects with sorted keys, and a
//! JavaScript engine puts keys that look like array indices before all others; for payloads with such keys that order
//! is the second candidate. Both texts have the same members, so either signature is over the same payload.

use std::cmp::Ordering;
use std::iter;

use serde::ser::Error as _;
use serde_json::{Number, Value};

/// The value holds a number that JSON does not have.
#[derive(Debug, thiserror::Error)]
#[error("the payload has no canonical form")]
pub struct CanonicalError(#[source] serde_json::Error);

/// Beyond these, an integer's text is that of the double that it becomes.
const EXACT_INTEGERS: std::ops::RangeInclusive<i64> = -(1 << 53)..=1 << 53;

type KeyOrder = fn(&str, &str) -> Ordering;

/// The text whose hash is signed.
pub fn rfc8785(value: &Value) -> Result<String, CanonicalError> {
    write(value, compare_utf16)
}

/// The texts that a signer may have hashed, the most likely first, built lazily.
pub fn candidates(value: &Value) -> impl Iterator<Item = Result<String, CanonicalError>> {
    iter::once_with(|| rfc8785(value))
        .chain(iter::once_with(|| has_index_key(value).then(|| javascript_order(value))).flatten())
}

/// RFC 8785 except for the order of keys: array indices first, by number.
pub fn javascript_order(value: &Value) -> Result<String, CanonicalError> {
    write(value, compare_javascript_keys)
}

fn write(value: &Value, order: KeyOrder) -> Result<String, CanonicalError> {
    let mut text = Vec::with_capacity(256);
    write_value(value, order, &mut text).map_err(CanonicalError)?;
    String::from_utf8(text).map_err(|error| CanonicalError(serde_json::Error::custom(error)))
}

fn write_value(value: &Value, order: KeyOrder, text: &mut Vec<u8>) -> serde_json::Result<()> {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_unstable_by(|(a, _), (b, _)| order(a, b));
            text.push(b'{');
            for (position, (key, member)) in members.into_iter().enumerate() {
                if position > 0 {
                    text.push(b',');
                }
                serde_json::to_writer(&mut *text, key)?;
                text.push(b':');
                write_value(member, order, text)?;
            }
            text.push(b'}');
        }
        Value::Array(items) => {
            text.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    text.push(b',');
                }
                write_value(item, order, text)?;
            }
            text.push(b']');
        }
        Value::Number(number) if !is_exact(number) => serde_json_canonicalizer::to_writer(value, text)?,
        // RFC 8785 writes texts and these integers as serde_json does.
        scalar => serde_json::to_writer(text, scalar)?,
    }
    Ok(())
}

fn is_exact(number: &Number) -> bool {
    number.as_i64().is_some_and(|integer| EXACT_INTEGERS.contains(&integer))
}

/// Appends a number as RFC 8785 writes it.
pub fn write_number(number: &Number, text: &mut String) -> Result<(), CanonicalError> {
    use std::fmt::Write as _;
    if is_exact(number) {
        return write!(text, "{number}").map_err(|error| CanonicalError(serde_json::Error::custom(error)));
    }
    text.push_str(&serde_json_canonicalizer::to_string(number).map_err(CanonicalError)?);
    Ok(())
}

/// The order of keys in RFC 8785.
#[must_use]
pub fn key_order(a: &str, b: &str) -> Ordering {
    compare_utf16(a, b)
}

/// Whether JavaScript puts this key before those that are no numbers.
#[must_use]
pub fn is_array_index(key: &str) -> bool {
    array_index(key).is_some()
}

/// By UTF-16 code units (RFC 8785 §3.2.3), which are the bytes of ASCII.
fn compare_utf16(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

fn compare_javascript_keys(a: &str, b: &str) -> Ordering {
    match (array_index(a), array_index(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => compare_utf16(a, b),
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
