//! Which logs are requested, and in which order they are.

use super::{error::RpcError, raw_log::RawLog, rpc_client::RpcRequest};
use alloy_primitives::{Address, B256, U64};
use serde_json::{Value, json};

/// Which logs are requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub addresses: Vec<Address>,
    /// Any of these as first topic.
    pub topics: Vec<B256>,
    /// Of the topics after the first: any of these, or any at all where the list is empty.
    pub indexed: Vec<Vec<B256>>,
}

impl LogFilter {
    pub(super) fn request(&self, blocks: &Value) -> RpcRequest {
        let any_or = |values: &Vec<B256>| if values.is_empty() { Value::Null } else { json!(values) };
        let topics: Vec<Value> = std::iter::once(json!(self.topics)).chain(self.indexed.iter().map(any_or)).collect();
        let mut filter = json!({ "address": self.addresses, "topics": topics });
        if let (Value::Object(filter), Value::Object(blocks)) = (&mut filter, blocks) {
            filter.extend(blocks.clone());
        }
        RpcRequest::new("eth_getLogs", json!([filter]))
    }

    pub(super) fn wants(&self, log: &RawLog) -> bool {
        self.addresses.contains(&log.address)
            && log.topics.first().is_some_and(|topic| self.topics.contains(topic))
            && has_indexed(log, &self.indexed)
    }

    pub(super) fn check(&self, log: &RawLog) -> Result<(), RpcError> {
        if self.wants(log) && !log.removed {
            return Ok(());
        }
        Err(RpcError::Inconsistent("told of events that were not asked for".to_owned()))
    }
}

/// Whether the topics after the first are among these values, where a list has any.
pub fn has_indexed(log: &RawLog, indexed: &[Vec<B256>]) -> bool {
    indexed.iter().enumerate().all(|(position, values)| {
        values.is_empty() || log.topics.get(position + 1).is_some_and(|topic| values.contains(topic))
    })
}

pub(super) fn position(log: &RawLog) -> (U64, U64) {
    (log.block_number, log.log_index)
}

/// Checks that no two logs of a block have the same index.
pub(super) fn check_positions(sorted: &[RawLog]) -> Result<(), RpcError> {
    match sorted.array_windows().find(|[one, next]| position(one) == position(next)) {
        None => Ok(()),
        Some([one, _]) => {
            Err(RpcError::Inconsistent(format!("told of two events at one place in block {}", one.block_number)))
        }
    }
}
