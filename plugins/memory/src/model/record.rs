//! Records: what the log of an address holds of each write. The header is public when it is anchored; it commits to the key with a
//! nonce, so that nobody finds the key by trying names.

use super::MemoryKey;
use alloy_primitives::hex::encode_prefixed;
use plugin_api::{Address, Hash256, HostError, HostErrorCode, JsonSchema};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use std::fmt;

const ZERO: Hash256 = Hash256([0; 32]);
const NONCE_BYTES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    Put,
    Del,
}

/// The header of a record; its hash is that of its canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordHeader {
    pub addr: Address,
    pub chain_id: u64,
    /// keccak-256 of the canonical JSON of `{key, nonce}`.
    pub key_commit: Hash256,
    pub op: Op,
    /// Hash of the record before; zero for the first.
    pub prev: Hash256,
    /// From 1, without gaps.
    pub seq: i64,
    /// Bytes of the value; 0 when it was deleted.
    pub size: i64,
    /// Unix seconds.
    pub ts: i64,
    pub v: u8,
    /// keccak-256 of the value's text; zero when it was deleted.
    pub value_hash: Hash256,
}

/// What a header says beside its place in the log.
#[derive(Clone, Debug)]
pub struct HeaderDraft {
    pub addr: Address,
    pub chain_id: u64,
    pub key_commit: Hash256,
    pub op: Op,
    pub size: i64,
    pub value_hash: Hash256,
}

impl HeaderDraft {
    /// The record after the one with this number and hash.
    pub fn after(&self, seq: i64, prev: Hash256, ts: i64) -> RecordHeader {
        let Self { addr, chain_id, key_commit, op, size, value_hash } = *self;
        RecordHeader { addr, chain_id, key_commit, op, prev, seq: seq + 1, size, ts, v: 1, value_hash }
    }

    pub fn hash_of(text: &str) -> Hash256 {
        Hash256::keccak(text.as_bytes())
    }

    pub const NOTHING: Hash256 = ZERO;
}

/// The canonical JSON: the members in the order of their names, and nothing that needs an escape.
impl fmt::Display for RecordHeader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { addr, chain_id, key_commit, op, prev, seq, size, ts, v, value_hash } = self;
        let op = match op {
            Op::Put => "put",
            Op::Del => "del",
        };
        write!(
            out,
            r#"{{"addr":"{addr}","chainId":{chain_id},"keyCommit":"{key_commit}","op":"{op}","prev":"{prev}","seq":{seq},"size":{size},"ts":{ts},"v":{v},"valueHash":"{value_hash}"}}"#
        )
    }
}

/// What a header's `keyCommit` commits to.
#[derive(Clone, Serialize, Deserialize)]
pub struct KeyReveal {
    pub key: MemoryKey,
    pub nonce: String,
}

impl KeyReveal {
    /// With a new nonce of the system's random bytes.
    pub fn new(key: MemoryKey) -> Result<Self, HostError> {
        let mut nonce = [0; NONCE_BYTES];
        let missing =
            |error| HostError::new(HostErrorCode::Internal, format!("the system gives no random bytes: {error}"));
        SysRng.try_fill_bytes(&mut nonce).map_err(missing)?;
        Ok(Self { key, nonce: encode_prefixed(nonce) })
    }

    /// Its canonical JSON.
    pub fn text(&self) -> String {
        format!(r#"{{"key":"{}","nonce":"{}"}}"#, self.key, self.nonce)
    }

    pub fn commit(&self) -> Hash256 {
        Hash256::keccak(self.text().as_bytes())
    }
}

/// A record in the answer of the write that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordReceipt {
    pub seq: i64,
    pub prev: Hash256,
    pub record_hash: Hash256,
    pub key_commit: Hash256,
    /// Private: with it, anyone finds the key by trying names.
    pub key_nonce: String,
    pub value_hash: Hash256,
    pub ts: i64,
}

impl RecordReceipt {
    pub fn new(header: &RecordHeader, record_hash: Hash256, key_nonce: String) -> Self {
        let RecordHeader { seq, prev, key_commit, value_hash, ts, .. } = *header;
        Self { seq, prev, record_hash, key_commit, key_nonce, value_hash, ts }
    }
}

/// A record with its proof.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordView {
    pub seq: i64,
    /// Of the leaf in the batch, from 0.
    pub index: i64,
    pub op: Op,
    pub ts: i64,
    pub size: i64,
    pub value_hash: Hash256,
    pub key_commit: Hash256,
    pub prev: Hash256,
    pub record_hash: Hash256,
    pub leaf: Hash256,
    pub record: RecordHeader,
    /// The header's canonical JSON in hexadecimal digits.
    pub record_bytes: String,
    /// The header's canonical JSON.
    pub record_json: String,
    /// Siblings from the leaf up.
    pub proof: Vec<Hash256>,
}

impl RecordView {
    pub fn new(
        header: RecordHeader,
        record_json: String,
        record_hash: Hash256,
        index: i64,
        proof: Vec<Hash256>,
    ) -> Self {
        let RecordHeader { seq, op, ts, size, value_hash, key_commit, prev, .. } = header;
        let (record_bytes, leaf) = (encode_prefixed(&record_json), super::leaf_of(record_hash));
        Self {
            seq,
            index,
            op,
            ts,
            size,
            value_hash,
            key_commit,
            prev,
            record_hash,
            leaf,
            record: header,
            record_bytes,
            record_json,
            proof,
        }
    }
}

/// A record with its key, for its owner.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnRecordView {
    #[serde(flatten)]
    pub record: RecordView,
    pub key: MemoryKey,
    pub key_nonce: String,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// A vector of the network's clients.
    #[test]
    fn commit_and_hashes_are_those_of_the_specification() {
        let reveal = KeyReveal { key: MemoryKey::parse("k").unwrap(), nonce: format!("0x{}", "11".repeat(16)) };
        let draft = HeaderDraft {
            addr: "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf".parse().unwrap(),
            chain_id: 3961,
            key_commit: reveal.commit(),
            op: Op::Put,
            size: 5,
            value_hash: HeaderDraft::hash_of("hello"),
        };
        let header = draft.after(0, HeaderDraft::NOTHING, 1_700_000_000);
        let hash = HeaderDraft::hash_of(&header.to_string());
        let hashes = [header.key_commit, header.value_hash, hash, crate::model::leaf_of(hash)];
        assert_eq!(
            hashes.map(|hash| hash.to_string()),
            [
                "0x26a159910ac4c8c147bfaf7ed458b9d7d1317ff7d38b6e71c42a3ba5261af624",
                "0x1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8",
                "0x8d181fa8875da79189a9001fa3956dcf2744378fcb4c708949a49175c898781a",
                "0xf64f6442759acee4f0b99d26894675fd2d4ba0588d9d90d6aa026adc53459d23",
            ]
        );
        assert_eq!(serde_json::to_string(&header).unwrap(), header.to_string(), "in the order of the names");
        assert_eq!(serde_json::from_str::<RecordHeader>(&header.to_string()).unwrap(), header);
        assert_eq!(serde_json::to_string(&reveal).unwrap(), reveal.text());
    }

    #[test]
    fn nonces_differ() {
        let nonces: Vec<String> =
            (0..2).map(|_| KeyReveal::new(MemoryKey::parse("k").unwrap()).unwrap().nonce).collect();
        assert!(nonces[0] != nonces[1] && nonces[0].len() == 34, "{nonces:?}");
    }
}
