//! Decodes logs into the events that a plugin receives.
//!
//! The rule: nothing here needs the database, so that it runs while the previous commit is written.

use super::{error::IndexError, event_subscriptions::EventSubscriptions};
use alloy_primitives::{Address, B256};
use bytes::Bytes;
use gateway_chain::RawLog;
use plugin_api::abi::{FfiBytes, LogMeta, SubscribedEvent};

/// Initial capacity for the arguments of an event.
const ARGUMENTS_BYTES: usize = 512;

/// An event for one source; one log may belong to several sources.
pub(crate) struct DecodedEvent {
    /// Index into [`EventSubscriptions::sources`].
    pub source: u32,
    pub log: LogMeta,
    /// Number of earlier logs with the same address, signature and transaction.
    pub repeat: u32,
    /// The arguments as JSON, a slice of one buffer for all events of a response.
    pub args: Bytes,
}

impl DecodedEvent {
    /// The position of its log in the chain.
    pub(crate) fn log_position(&self) -> (u64, u64) {
        (self.log.block, self.log.log_index)
    }

    /// The event for the plugin, without a copy of the arguments.
    pub(crate) fn to_abi(&self) -> SubscribedEvent {
        SubscribedEvent { source: self.source, log: self.log, args: FfiBytes::from_owner(self.args.clone()) }
    }
}

/// Decodes the logs of whole blocks, in their order.
pub(crate) fn decode(subscriptions: &EventSubscriptions, logs: &[RawLog]) -> Result<Vec<DecodedEvent>, IndexError> {
    // Of the present transaction; a list suffices, because a plugin has few subscriptions.
    let mut repeats: Vec<(Address, Option<&B256>, u32)> = Vec::new();
    let mut tx = None;
    let mut events = Vec::with_capacity(logs.len());
    let (mut text, mut ends) = (Vec::with_capacity(logs.len() * ARGUMENTS_BYTES), Vec::with_capacity(logs.len()));
    for log in logs {
        if tx.replace(log.transaction_hash) != Some(log.transaction_hash) {
            repeats.clear();
        }
        let is_same = |other: &(Address, Option<&B256>, u32)| (other.0, other.1) == (log.address, log.topics.first());
        let repeat = match repeats.iter_mut().find(|other| is_same(other)) {
            Some((.., before)) => {
                *before += 1;
                *before
            }
            None => {
                repeats.push((log.address, log.topics.first(), 0));
                0
            }
        };
        for (source, args) in subscriptions.decode(log) {
            serde_json::to_writer(&mut text, &args).map_err(|error| IndexError::Handler(error.to_string()))?;
            ends.push(text.len());
            events.push(DecodedEvent { source, log: log.meta(), repeat, args: Bytes::new() });
        }
    }
    let (text, mut start) = (Bytes::from(text), 0);
    for (event, end) in events.iter_mut().zip(ends) {
        event.args = text.slice(start..end);
        start = end;
    }
    Ok(events)
}

/// Number of distinct logs behind the events.
pub(crate) fn count_logs(events: &[DecodedEvent]) -> usize {
    let others = events.windows(2).filter(|pair| pair[0].log_position() != pair[1].log_position()).count();
    others + usize::from(!events.is_empty())
}

/// Number of events for the next commit: about `target`, extended to the end of a block.
pub(crate) fn commit_len(events: &[DecodedEvent], target: usize) -> usize {
    let Some(last) = events.get(target.saturating_sub(1)) else { return events.len() };
    let rest = events.iter().skip(target).position(|event| event.log.block != last.log.block);
    rest.map_or(events.len(), |extra| target + extra)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloy_primitives::keccak256;
    use gateway_config::ChainConfig;
    use plugin_api::{Hash256, manifest::SubscriptionSpec};
    use serde_json::json;

    fn event(block: u64, log_index: u64) -> DecodedEvent {
        let zero = Hash256([0; 32]);
        let log = LogMeta { block, block_hash: zero, time_s: 0, tx: zero, tx_index: 0, log_index };
        DecodedEvent { source: 0, log, repeat: 0, args: Bytes::new() }
    }

    /// `Moved()` and `Opened()` of two contracts, after an event of a contract that is not deployed.
    fn subscriptions() -> EventSubscriptions {
        let address = |byte| plugin_api::Address([byte; 20]);
        let contracts = [("one", address(1)), ("two", address(2))].map(|(key, address)| (key.to_owned(), address));
        let config = ChainConfig { contracts: contracts.into(), ..ChainConfig::default() };
        let spec = SubscriptionSpec::new;
        let specs = [
            spec("nowhere", "Moved()"),
            spec("one", "Moved()"),
            spec("one", "Opened()"),
            spec("two", "Moved()"),
            spec("two", "Opened()"),
        ];
        EventSubscriptions::new("main", &config, &specs).unwrap()
    }

    #[test]
    fn repeats_are_counted_by_address_signature_and_transaction() {
        let log = |index: u64, (address, event, tx): (u8, &str, u8)| {
            let log = json!({
                "address": Address::repeat_byte(address),
                "topics": [keccak256(event)],
                "data": "0x",
                "blockNumber": "0x7",
                "blockHash": B256::ZERO,
                "transactionHash": B256::repeat_byte(tx),
                "transactionIndex": "0x0",
                "logIndex": format!("{index:#x}"),
            });
            serde_json::from_value::<RawLog>(log).unwrap()
        };
        let kinds = [
            (1, "Moved()", 1),
            (2, "Moved()", 1),
            (1, "Opened()", 1),
            (1, "Moved()", 1),
            (2, "Moved()", 1),
            (1, "Moved()", 1),
            (1, "Moved()", 2),
            (2, "Opened()", 2),
            (1, "Moved()", 2),
        ];
        let logs: Vec<RawLog> = (0..).zip(kinds).map(|(index, kind)| log(index, kind)).collect();
        let subscriptions = subscriptions();
        let events = decode(&subscriptions, &logs).unwrap();
        let repeats: Vec<(u32, u32)> = events.iter().map(|event| (event.source, event.repeat)).collect();
        assert_eq!(repeats, [(0, 0), (2, 0), (1, 0), (0, 1), (2, 1), (0, 2), (0, 0), (3, 0), (0, 1)]);
        let event = events[3].to_abi();
        let LogMeta { block, log_index, tx, .. } = event.log;
        assert_eq!((block, log_index, tx, &*event.args), (7, 3, Hash256([1; 32]), &b"{}"[..]));
        let source = &subscriptions.sources()[event.source as usize];
        assert_eq!((&*source.chain, &*source.contract, &*source.event), ("main", "one", "Moved"));
        assert_eq!((source.subscription, source.address), (1, plugin_api::Address([1; 20])));
        assert_eq!(subscriptions.event_name(event.source), "Moved");
    }

    #[test]
    fn a_commit_holds_whole_blocks() {
        let events = [event(1, 0), event(1, 1), event(2, 0), event(2, 1), event(3, 0)];
        assert_eq!([1, 2, 3, 4, 5, 6].map(|target| commit_len(&events, target)), [2, 2, 4, 4, 5, 5]);
        assert_eq!(commit_len(&[], 1), 0);
    }

    #[test]
    fn a_log_with_two_sources_counts_once() {
        assert_eq!(count_logs(&[]), 0);
        assert_eq!(count_logs(&[event(1, 0), event(1, 0), event(1, 1), event(2, 1)]), 3);
    }
}
