//! Events in the words in which a plugin hears of them.
//!
//! The rule: what does not need the database is done here, beside the commit of what came before.

use super::Trouble;
use alloy_primitives::{Address, B256};
use bytes::Bytes;
use gateway_chain::event::Listening;
use gateway_chain::log::RawLog;
use plugin_api::{
    Hash256,
    abi::{FfiBytes, SubscribedEvent},
};

/// Room for the arguments of an event.
const ARGUMENTS_BYTES: usize = 512;

/// An event for one source; one log may be of several.
pub struct Told {
    /// Its place in [`Listening::sources`].
    pub source: u32,
    pub block: u64,
    pub block_hash: B256,
    pub log_index: u64,
    /// When the block was made, Unix seconds.
    pub time_s: i64,
    pub tx: Hash256,
    pub tx_index: u64,
    /// How many logs of the same address, signature and transaction came before.
    pub repeat: u32,
    /// The arguments as JSON, a part of the text of its range.
    pub args: Bytes,
}

impl Told {
    /// The place of its log in the chain.
    pub fn place(&self) -> (u64, u64) {
        (self.block, self.log_index)
    }

    /// For the plugin, without a copy of the arguments.
    pub fn event(&self) -> SubscribedEvent {
        SubscribedEvent {
            source: self.source,
            block: self.block,
            block_hash: self.block_hash.0,
            time_s: self.time_s,
            tx: self.tx.0,
            tx_index: self.tx_index,
            log_index: self.log_index,
            args: FfiBytes::from_owner(self.args.clone()),
        }
    }
}

/// The logs of whole blocks, in their order.
pub fn tell(listening: &Listening, logs: &[RawLog]) -> Result<Vec<Told>, Trouble> {
    // Of the present transaction; there are as few as the plugin has subscriptions.
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
        for (source, args) in listening.read(log) {
            serde_json::to_writer(&mut text, &args).map_err(|error| Trouble::Handler(error.to_string()))?;
            ends.push(text.len());
            events.push(Told {
                source,
                block: log.block_number.to(),
                block_hash: log.block_hash,
                log_index: log.log_index.to(),
                time_s: log.time_s(),
                tx: Hash256(log.transaction_hash.0),
                tx_index: log.transaction_index.to(),
                repeat,
                args: Bytes::new(),
            });
        }
    }
    let (text, mut start) = (Bytes::from(text), 0);
    for (told, end) in events.iter_mut().zip(ends) {
        told.args = text.slice(start..end);
        start = end;
    }
    Ok(events)
}

/// How many logs the events are of.
pub fn count_logs(events: &[Told]) -> usize {
    let others = events.windows(2).filter(|pair| pair[0].place() != pair[1].place()).count();
    others + usize::from(!events.is_empty())
}

/// How many of the events go into one commit: about `most`, and whole blocks.
pub fn cut(events: &[Told], most: usize) -> usize {
    let Some(last) = events.get(most.saturating_sub(1)) else { return events.len() };
    let rest = events.iter().skip(most).position(|event| event.block != last.block);
    rest.map_or(events.len(), |extra| most + extra)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloy_primitives::keccak256;
    use gateway_config::ChainConfig;
    use plugin_api::manifest::SubscriptionSpec;
    use serde_json::json;

    fn told(block: u64, log_index: u64) -> Told {
        let (tx, args) = (Hash256([0; 32]), Bytes::new());
        Told { source: 0, block, block_hash: B256::ZERO, log_index, time_s: 0, tx, tx_index: 0, repeat: 0, args }
    }

    /// `Moved()` and `Opened()` of two contracts, after an event of one that is not deployed.
    fn listening() -> Listening {
        let address = |byte| plugin_api::Address([byte; 20]);
        let contracts = [("one", address(1)), ("two", address(2))].map(|(key, address)| (key.to_owned(), address));
        let config = ChainConfig { contracts: contracts.into(), ..ChainConfig::default() };
        let of = |contract: &str, event: &str| SubscriptionSpec {
            contract: contract.to_owned(),
            event: event.to_owned(),
            derived_tables: Vec::new(),
        };
        let first = of("nowhere", "Moved()");
        let all = [first, of("one", "Moved()"), of("one", "Opened()"), of("two", "Moved()"), of("two", "Opened()")];
        Listening::new("main", &config, &all).unwrap()
    }

    #[test]
    fn events_of_one_kind_are_counted_by_transaction() {
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
        let listening = listening();
        let told = tell(&listening, &logs).unwrap();
        let counted: Vec<(u32, u32)> = told.iter().map(|told| (told.source, told.repeat)).collect();
        assert_eq!(counted, [(0, 0), (2, 0), (1, 0), (0, 1), (2, 1), (0, 2), (0, 0), (3, 0), (0, 1)]);
        let event = told[3].event();
        assert_eq!((event.block, event.log_index, event.tx, &*event.args), (7, 3, [1; 32], &b"{}"[..]));
        let source = &listening.sources()[event.source as usize];
        assert_eq!((&*source.chain, &*source.contract, &*source.event), ("main", "one", "Moved"));
        assert_eq!((source.subscription, source.address), (1, [1; 20]));
        assert_eq!(listening.event_name(event.source), "Moved");
    }

    #[test]
    fn a_commit_holds_whole_blocks() {
        let events = [told(1, 0), told(1, 1), told(2, 0), told(2, 1), told(3, 0)];
        assert_eq!([1, 2, 3, 4, 5, 6].map(|most| cut(&events, most)), [2, 2, 4, 4, 5, 5]);
        assert_eq!(cut(&[], 1), 0);
    }

    #[test]
    fn a_log_that_is_told_twice_counts_once() {
        assert_eq!(count_logs(&[]), 0);
        assert_eq!(count_logs(&[told(1, 0), told(1, 0), told(1, 1), told(2, 1)]), 3);
    }
}
