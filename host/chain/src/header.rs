//! A block's header, as much of it as the index needs.

use alloy_primitives::{B256, U64};
use serde::Deserialize;

/// A block by its place, its name and the name of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Wire")]
pub struct Header {
    pub number: u64,
    pub hash: B256,
    pub parent: B256,
    /// Unix seconds.
    pub time_s: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    number: U64,
    hash: B256,
    parent_hash: B256,
    timestamp: U64,
}

impl From<Wire> for Header {
    fn from(wire: Wire) -> Self {
        Self { number: wire.number.to(), hash: wire.hash, parent: wire.parent_hash, time_s: wire.timestamp.to() }
    }
}
