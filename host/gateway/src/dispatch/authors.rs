//! Completes the authors of a plugin's response: each mark becomes the record `{address, name, agentId}`.
//!
//! The rule: this happens after the commit, when the request holds no transaction, because names are read from the database.

use bytes::Bytes;
use gateway_plugins::HostContext;
use memchr::memchr;
use plugin_api::{Address, abi::AUTHOR_MARK};
use std::sync::Arc;

const ADDRESS_BYTES: usize = 20;

/// The whole JSON; `None` when a mark has no address: a bug of the plugin.
pub async fn complete(host: &HostContext, json: &[u8]) -> Option<Bytes> {
    let addresses = marked(json)?;
    let records = host.authors(&addresses).await;
    Some(join(json, &records).into())
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

/// The JSON with a record in the place of each mark.
fn join(json: &[u8], records: &[Arc<str>]) -> Vec<u8> {
    let added: usize = records.iter().map(|record| record.len()).sum();
    let (mut joined, mut rest) = (Vec::with_capacity(json.len() + added), json);
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
        assert_eq!(join(&json, &records), br#"{"a":{},"b":[[1]]}"#);
    }

    #[test]
    fn a_mark_without_a_whole_address_is_refused() {
        for cut in 1..MARKED.len() {
            assert_eq!(marked(&json(&[b"[", &MARKED[..cut]])), None, "{cut}");
        }
        assert_eq!(marked(b"{}"), Some(Vec::new()));
    }
}
