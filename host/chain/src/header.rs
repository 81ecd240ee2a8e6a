//! The part of a block's header that following a chain needs.

use alloy_primitives::{B256, U64};
use plugin_api::{Hash256, chain::BlockInfo};
use serde::Deserialize;

/// A block's number, hash and link to the block before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "RpcHeader")]
pub struct Header {
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
    /// Unix seconds.
    pub time_s: u64,
}

/// The header as JSON-RPC writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RpcHeader {
    number: U64,
    hash: B256,
    parent_hash: B256,
    timestamp: U64,
}

impl From<RpcHeader> for Header {
    fn from(header: RpcHeader) -> Self {
        Self {
            number: header.number.to(),
            hash: header.hash,
            parent_hash: header.parent_hash,
            time_s: header.timestamp.to(),
        }
    }
}

impl From<Header> for BlockInfo {
    fn from(header: Header) -> Self {
        Self {
            number: header.number,
            hash: Hash256(header.hash.0),
            parent: Hash256(header.parent_hash.0),
            time_s: i64::try_from(header.time_s).unwrap_or(i64::MAX),
        }
    }
}
