//! Chain events, as the gateway gives them to a plugin.

use super::FfiBytes;
use crate::values::{Address, Hash256};
use abi_stable::{StableAbi, std_types::RString};
use serde::{Deserialize, Serialize};

/// Where an event's log is in its chain: the same value from the RPC server's response to the handler.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMeta {
    pub block: u64,
    pub block_hash: Hash256,
    /// Timestamp of the block, Unix seconds.
    pub time_s: i64,
    pub tx: Hash256,
    /// Index of the transaction in its block.
    pub tx_index: u64,
    /// Index of the event in its block. A reorganisation may change it, so `tx` and `log_index` are no permanent id.
    pub log_index: u64,
}

/// The members that all events of one subscription share; see [`crate::manifest::ChainEvent`].
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct EventSource {
    /// Index of the subscription in the manifest.
    pub subscription: u32,
    pub chain: RString,
    pub contract: RString,
    pub address: Address,
    pub event: RString,
}

/// A chain event for a plugin; for the members see [`crate::manifest::ChainEvent`].
#[repr(C)]
#[derive(StableAbi)]
pub struct SubscribedEvent {
    /// Index of its source in the list of sources of the call.
    pub source: u32,
    pub log: LogMeta,
    /// A JSON object.
    pub args: FfiBytes,
}
