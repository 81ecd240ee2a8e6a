//! Unique keys of the events that handlers emit, by which each enters the activity log once.
//!
//! The rule: a key comes from the transaction, not from its place in the chain. After a reorganisation moved a transaction to another
//! block, its events have the same keys, because they keep their order within the transaction. An event keeps its key in later
//! versions of the gateway: a new index finds by it what the one before made public.

use super::{decode::DecodedEvent, event_subscriptions::EventSubscriptions};
use gateway_activity::CheckedEvent;
use plugin_api::Hash256;
use std::collections::BTreeSet;

/// Assigns the keys of one batch, which is given in the order of the chain.
pub(crate) struct UniqueKeys<'s> {
    /// The plugin, with the chain unless it is the main one: a transaction may be part of several chains.
    owner: String,
    subscriptions: &'s EventSubscriptions,
    /// Position of the log of the event before.
    position: Option<(u64, u64)>,
    /// Number of events that were emitted before from the same log.
    nth: usize,
    tx: Option<Hash256>,
    /// Keys of the present transaction.
    used: BTreeSet<String>,
}

impl<'s> UniqueKeys<'s> {
    pub(crate) fn new(owner: String, subscriptions: &'s EventSubscriptions) -> Self {
        Self { owner, subscriptions, position: None, nth: 0, tx: None, used: BTreeSet::new() }
    }

    /// The event with a key, unless its handler gave it one.
    pub(crate) fn assign(&mut self, decoded: &DecodedEvent, event: CheckedEvent) -> CheckedEvent {
        self.begin(decoded);
        event.with_defaults(|| self.key(decoded), decoded.log.time_s)
    }

    fn begin(&mut self, decoded: &DecodedEvent) {
        let position = decoded.log_position();
        self.nth = if self.position.replace(position) == Some(position) { self.nth + 1 } else { 0 };
        if self.tx.replace(decoded.log.tx) != Some(decoded.log.tx) {
            self.used.clear();
        }
    }

    /// `repeat` is counted by address and signature. The second event of that name and number in a transaction, which comes from
    /// another contract or has other arguments, names both as well. The first one does not: keys of earlier versions stay.
    fn key(&mut self, decoded: &DecodedEvent) -> String {
        let event = self.subscriptions.event_name(decoded.source);
        let key = format!("{}:{event}:{}:{}.{}", self.owner, decoded.log.tx, decoded.repeat, self.nth);
        if self.used.insert(key.clone()) {
            return key;
        }
        let (address, topic) = self.subscriptions.emitter(decoded.source).unzip();
        format!("{key}:{}:{}", address.unwrap_or_default(), topic.unwrap_or_default())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use bytes::Bytes;
    use gateway_config::ChainConfig;
    use plugin_api::{abi::LogMeta, manifest::SubscriptionSpec};

    fn event(source: u32, tx: u8, log_index: u64, repeat: u32) -> DecodedEvent {
        let zero = Hash256([0; 32]);
        let log = LogMeta { block: 7, block_hash: zero, time_s: 0, tx: Hash256([tx; 32]), tx_index: 0, log_index };
        DecodedEvent { source, log, repeat, args: Bytes::new() }
    }

    /// `Moved()` of two contracts, and `Moved(uint256)` of the first.
    fn keys(events: &[DecodedEvent]) -> Vec<String> {
        let address = |byte| plugin_api::Address([byte; 20]);
        let contracts = [("one", address(1)), ("two", address(2))].map(|(key, address)| (key.to_owned(), address));
        let config = ChainConfig { contracts: contracts.into(), ..ChainConfig::default() };
        let specs = [("one", "Moved()"), ("two", "Moved()"), ("one", "Moved(uint256 id)")];
        let specs = specs.map(|(contract, event)| SubscriptionSpec::new(contract, event));
        let subscriptions = EventSubscriptions::new("main", &config, &specs).unwrap();
        let mut keys = UniqueKeys::new("bank".to_owned(), &subscriptions);
        let key = |event: &DecodedEvent| {
            keys.begin(event);
            keys.key(event)
        };
        events.iter().map(key).collect()
    }

    #[test]
    fn the_keys_of_deployed_databases_stay() {
        let (one, two) = (format!("0x{}", "01".repeat(32)), format!("0x{}", "02".repeat(32)));
        // Two events from one log, its repetition, another transaction, and another contract with a number of its own.
        let events = [event(0, 1, 0, 0), event(0, 1, 0, 0), event(0, 1, 1, 1), event(1, 2, 2, 0), event(1, 2, 3, 1)];
        let expected = [(&one, "0.0"), (&one, "0.1"), (&one, "1.0"), (&two, "0.0"), (&two, "1.0")];
        assert_eq!(keys(&events), expected.map(|(tx, place)| format!("bank:Moved:{tx}:{place}")));
    }

    #[test]
    fn the_same_event_of_two_contracts_in_one_transaction_has_two_keys() {
        let events = [event(0, 1, 0, 0), event(1, 1, 1, 0), event(2, 1, 2, 0), event(0, 1, 3, 1), event(1, 1, 4, 1)];
        let keys = keys(&events);
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 5, "{keys:?}");
        let tx = format!("0x{}", "01".repeat(32));
        assert_eq!([&keys[0], &keys[3]], [&format!("bank:Moved:{tx}:0.0"), &format!("bank:Moved:{tx}:1.0")]);
        assert!(keys[1].starts_with(&format!("bank:Moved:{tx}:0.0:0x{}:0x", "02".repeat(20))), "{keys:?}");
    }
}
