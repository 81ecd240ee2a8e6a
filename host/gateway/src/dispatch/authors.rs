//! Completes the authors of a plugin's response: each mark becomes the record `{address, name, agentId}`.
//!
//! The rule: this happens after the commit, when the request holds no transaction, because names are read from the database.

use bytes::Bytes;
use gateway_plugins::{
    ExtensionPoints,
    bounds::{RESPONSE_BODY_BYTES_MAX, excess},
};
use memchr::memchr;
use plugin_api::{Address, abi::AUTHOR_MARK};
use std::sync::Arc;

const ADDRESS_BYTES: usize = 20;

/// The whole JSON. Fails with the reason when a mark has no address, or when the JSON is too large with its authors: a bug of
/// the plugin.
pub(crate) async fn complete(points: &ExtensionPoints, json: &[u8]) -> Result<Bytes, String> {
    let addresses = marked(json).ok_or("an author has no address")?;
    let records = points.authors(&addresses).await;
    match excess("the body with its authors", joined_bytes(json, &records), RESPONSE_BODY_BYTES_MAX) {
        Some(reason) => Err(reason),
        None => Ok(join(json, &records).into()),
    }
}

/// The addresses of all marks, in their order.
fn marked(json: &[u8]) -> Option<Vec<Address>> {
    let (mut addresses, mut rest) = (Vec::new(), json);
    while let Some(mark) = memchr(AUTHOR_MARK, rest) {
        let (address, after) = rest.get(mark + 1..)?.split_first_chunk::<ADDRESS_BYTES>()?;
        addresses.push(Address(*address));
        rest = after;
    }
    Some(addresses)
}

/// The size of [`join`]'s JSON: each mark and its address give way to a record.
fn joined_bytes(json: &[u8], records: &[Arc<str>]) -> usize {
    let added: usize = records.iter().map(|record| record.len()).sum();
    (json.len() + added).saturating_sub(records.len() * (1 + ADDRESS_BYTES))
}

/// The JSON with a record in the place of each mark.
fn join(json: &[u8], records: &[Arc<str>]) -> Vec<u8> {
    let (mut joined, mut rest) = (Vec::with_capacity(joined_bytes(json, records)), json);
    for record in records {
        let Some(mark) = memchr(AUTHOR_MARK, rest) else { break };
        let (before, marked) = rest.split_at(mark);
        joined.extend_from_slice(before);
        joined.extend_from_slice(record.as_bytes());
        rest = marked.get(1 + ADDRESS_BYTES..).unwrap_or_default();
    }
    joined.extend_from_slice(rest);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    /// The address itself contains the mark.
    const MARKED: [u8; 21] = [AUTHOR_MARK; 21];

    #[test]
    fn each_mark_becomes_the_record_of_its_address() {
        let other = [&[AUTHOR_MARK][..], &[0xff; 20]].concat();
        let json = json(&[br#"{"a":"#, &MARKED, br#","b":["#, &other, b"]}"]);
        assert_eq!(marked(&json), Some(vec![Address([AUTHOR_MARK; 20]), Address([0xff; 20])]));
        let records = [Arc::from("{}"), Arc::from("[1]")];
        let joined = join(&json, &records);
        assert_eq!(joined, br#"{"a":{},"b":[[1]]}"#);
        assert_eq!(joined_bytes(&json, &records), joined.len());
    }

    #[test]
    fn a_mark_without_a_whole_address_is_refused() {
        for cut in 1..MARKED.len() {
            assert_eq!(marked(&json(&[b"[", &MARKED[..cut]])), None, "{cut}");
        }
        assert_eq!(marked(b"{}"), Some(Vec::new()));
    }
}
