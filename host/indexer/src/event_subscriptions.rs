//! The event subscriptions of one plugin on one chain. The rule: the position of a subscription in the list is the source number by
//! which the plugin knows its events.

use abi_stable::std_types::RVec;
use alloy_primitives::{Address, B256};
use gateway_chain::{EventArguments, EventDecoder, LogFilter, RawLog, has_indexed};
use gateway_config::ChainConfig;
use plugin_api::{
    abi::EventSource,
    manifest::{IndexedValue, SubscriptionSpec},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The subscriptions whose contracts are deployed.
pub(crate) struct EventSubscriptions {
    chain: String,
    subscriptions: Vec<EventSubscription>,
}

struct EventSubscription {
    /// Position in the manifest.
    index: u32,
    contract: String,
    address: Address,
    decoder: EventDecoder,
    /// Of the topics after the first: any of these, or any at all where the list is empty.
    indexed: Vec<Vec<B256>>,
}

impl EventSubscriptions {
    /// Leaves out contracts that are not deployed, and events that are looked for by such contracts alone. A signature that cannot
    /// be parsed is an error of the plugin.
    pub(crate) fn new(chain: &str, config: &ChainConfig, specs: &[SubscriptionSpec]) -> Result<Self, String> {
        let mut subscriptions = Vec::new();
        for (index, spec) in (0u32..).zip(specs).filter(|(_, spec)| spec.chain == chain) {
            let explain = |error: String| format!("the event {}: {error}", spec.event);
            let decoder = EventDecoder::parse(&spec.event).map_err(explain)?;
            let Some((address, values)) = config.contract(&spec.contract).zip(indexed_values(spec, config)) else {
                continue;
            };
            let indexed = decoder.indexed_topics(&values).map_err(explain)?;
            let (address, contract) = (Address::from(address.0), spec.contract.clone());
            subscriptions.push(EventSubscription { index, contract, address, decoder, indexed });
        }
        Ok(Self { chain: chain.to_owned(), subscriptions })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.subscriptions.is_empty()
    }

    /// One filter for all that look for the same values of indexed arguments: each is a request.
    pub(crate) fn filters(&self) -> Vec<LogFilter> {
        let mut filters: Vec<LogFilter> = Vec::new();
        for EventSubscription { address, decoder, indexed, .. } in &self.subscriptions {
            match filters.iter_mut().find(|filter| filter.indexed == *indexed) {
                Some(filter) => {
                    filter.addresses.push(*address);
                    filter.topics.push(decoder.topic());
                }
                None => filters.push(LogFilter {
                    addresses: vec![*address],
                    topics: vec![decoder.topic()],
                    indexed: indexed.clone(),
                }),
            }
        }
        for filter in &mut filters {
            filter.addresses.sort_unstable();
            filter.addresses.dedup();
            filter.topics.sort_unstable();
            filter.topics.dedup();
        }
        filters
    }

    /// Addresses, signatures and values of indexed arguments as text: when it changes, all rows must be derived again.
    pub(crate) fn definition(&self) -> String {
        let line = |subscription: &EventSubscription| {
            let EventSubscription { address, decoder, indexed, .. } = subscription;
            // Without a value the text is that of gateways that knew none: their index goes on.
            let values = if indexed.is_empty() { String::new() } else { format!(" {indexed:?}") };
            format!("{address} {}{values}", decoder.full_signature())
        };
        self.subscriptions.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The sources for the plugin, by source number.
    pub(crate) fn sources(&self) -> RVec<EventSource> {
        let source = |subscription: &EventSubscription| EventSource {
            subscription: subscription.index,
            chain: self.chain.as_str().into(),
            contract: subscription.contract.as_str().into(),
            address: plugin_api::Address(subscription.address.into_array()),
            event: subscription.decoder.name().into(),
        };
        self.subscriptions.iter().map(source).collect()
    }

    /// Name of the events of that source.
    pub(crate) fn event_name(&self, source: u32) -> &str {
        self.subscriptions.get(source as usize).map_or("", |subscription| subscription.decoder.name())
    }

    /// Address of the contract and hash of the signature.
    pub(crate) fn emitter(&self, source: u32) -> Option<(Address, B256)> {
        self.subscriptions.get(source as usize).map(|subscription| (subscription.address, subscription.decoder.topic()))
    }

    /// The decoded arguments for each source that the log belongs to.
    pub(crate) fn decode<'d>(&'d self, log: &'d RawLog) -> impl Iterator<Item = (u32, EventArguments<'d>)> {
        let topic = log.topics.first();
        let matches = move |(_, subscription): &(u32, &EventSubscription)| {
            subscription.address == log.address
                && Some(&subscription.decoder.topic()) == topic
                && has_indexed(log, &subscription.indexed)
        };
        let decode = move |(source, subscription): (u32, &'d EventSubscription)| {
            let arguments = subscription.decoder.decode(log);
            if arguments.is_none() {
                let (event, tx) = (subscription.decoder.name(), log.transaction_hash);
                tracing::warn!(event, %tx, "an event has another layout than its signature says; it is left out");
            }
            Some((source, arguments?))
        };
        (0u32..).zip(&self.subscriptions).filter(matches).filter_map(decode)
    }
}

/// The values of each indexed argument; `None` when an argument is looked for by contracts of which none is deployed.
fn indexed_values(spec: &SubscriptionSpec, config: &ChainConfig) -> Option<BTreeMap<String, Vec<Value>>> {
    let value = |value: &IndexedValue| match value {
        IndexedValue::Value(value) => Some(value.clone()),
        IndexedValue::Contract(key) => config.contract(key).map(|address| json!(address)),
    };
    let of_argument = |(argument, values): (&String, &Vec<IndexedValue>)| {
        let deployed: Vec<Value> = values.iter().filter_map(value).collect();
        (!deployed.is_empty()).then(|| (argument.clone(), deployed))
    };
    spec.indexed.iter().map(of_argument).collect()
}
