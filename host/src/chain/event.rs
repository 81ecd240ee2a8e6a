//! From a log to the JSON that a plugin gets.

use super::{
    argument::Arguments,
    log::{Filter, RawLog},
};
use crate::config::ChainConfig;
use alloy::{
    dyn_abi::{DynSolEvent, Specifier as _},
    json_abi::Event,
};
use alloy_primitives::{Address, B256};
use plugin_api::manifest::{ChainEvent, SubscriptionSpec};

/// The subscriptions of one plugin whose contracts are deployed.
pub struct Listening {
    pub chain: String,
    events: Vec<Subscribed>,
}

struct Subscribed {
    /// Its place in the manifest.
    index: u32,
    contract: String,
    address: Address,
    decoder: Decoder,
}

/// Reads the events of one signature.
pub struct Decoder {
    event: Event,
    resolved: DynSolEvent,
    /// Of the arguments: those without one are called by their places.
    names: Vec<String>,
    /// A hash of the signature, made once.
    topic: B256,
}

impl Decoder {
    /// `Registered(uint256 indexed agentId, string agentURI)`, with or without `event` in front.
    pub fn parse(signature: &str) -> Result<Self, String> {
        let event = Event::parse(signature).map_err(|error| error.to_string().replace('\n', " "))?;
        let resolved = event.resolve().map_err(|error| error.to_string())?;
        let topic = event.selector();
        let called = |(place, name): (usize, &str)| if name.is_empty() { place.to_string() } else { name.to_owned() };
        let names = event.inputs.iter().map(|input| input.name.as_str()).enumerate().map(called).collect();
        Ok(Self { event, resolved, names, topic })
    }

    pub fn topic(&self) -> B256 {
        self.topic
    }

    pub fn name(&self) -> &str {
        &self.event.name
    }

    /// The arguments by name; nothing when the log has another layout.
    pub fn arguments(&self, log: &RawLog) -> Option<Arguments<'_>> {
        let decoded = self.resolved.decode_log_parts(log.topics.iter().copied(), &log.data).ok()?;
        let (mut indexed, mut body) = (decoded.indexed.into_iter(), decoded.body.into_iter());
        let value = |is_indexed: bool| if is_indexed { indexed.next() } else { body.next() };
        let values = self.event.inputs.iter().map(|input| input.indexed).map(value).collect::<Option<_>>()?;
        Some(Arguments { names: &self.names, values })
    }
}

impl Listening {
    /// Leaves out what is not deployed. A signature that cannot be read is the plugin's mistake.
    pub fn new(chain: &str, config: &ChainConfig, specs: &[SubscriptionSpec]) -> Result<Self, String> {
        let mut events = Vec::new();
        for (index, spec) in (0u32..).zip(specs) {
            let decoder = Decoder::parse(&spec.event).map_err(|error| format!("the event {}: {error}", spec.event))?;
            if let Some(address) = config.contract(&spec.contract) {
                let address = Address::from(address.0);
                events.push(Subscribed { index, contract: spec.contract.clone(), address, decoder });
            }
        }
        Ok(Self { chain: chain.to_owned(), events })
    }

    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        for event in &self.events {
            filter.addresses.push(event.address);
            filter.events.push(event.decoder.topic());
        }
        filter.addresses.sort_unstable();
        filter.addresses.dedup();
        filter.events.sort_unstable();
        filter.events.dedup();
        filter
    }

    /// What the rows depend on: another text means that they must be derived anew.
    pub fn shape(&self) -> String {
        let event = |event: &Subscribed| format!("{} {}", event.address, event.decoder.event.full_signature());
        self.events.iter().map(event).collect::<Vec<_>>().join("\n")
    }

    /// Name of the event that this subscription of the manifest is for.
    pub fn event_name(&self, subscription: u32) -> &str {
        let subscribed = self.events.iter().find(|event| event.index == subscription);
        subscribed.map_or("", |event| event.decoder.name())
    }

    /// What the log is to each subscription that it belongs to.
    pub fn read<'d>(&'d self, log: &'d RawLog) -> impl Iterator<Item = (u32, ChainEvent<Arguments<'d>, &'d str>)> {
        let topic = log.topics.first();
        let fits = move |event: &&Subscribed| event.address == log.address && Some(&event.decoder.topic) == topic;
        let read = move |event: &'d Subscribed| {
            let arguments = event.decoder.arguments(log);
            if arguments.is_none() {
                let (event, tx) = (event.decoder.name(), log.transaction_hash);
                tracing::warn!(event, %tx, "an event has another layout than its signature says; it is left out");
            }
            Some((event.index, to_event(&self.chain, &event.contract, event.decoder.name(), arguments?, log)))
        };
        self.events.iter().filter(fits).filter_map(read)
    }
}

pub fn to_event<'d>(
    chain: &'d str,
    contract: &'d str,
    event: &'d str,
    args: Arguments<'d>,
    log: &RawLog,
) -> ChainEvent<Arguments<'d>, &'d str> {
    ChainEvent {
        chain,
        contract,
        address: plugin_api::Address(log.address.into_array()),
        event,
        args,
        block: log.block_number.to(),
        block_hash: plugin_api::Hash256(log.block_hash.0),
        time_s: log.block_timestamp.map_or(0, |time| i64::try_from(time.to::<u64>()).unwrap_or(i64::MAX)),
        tx: plugin_api::Hash256(log.transaction_hash.0),
        tx_index: log.transaction_index.to(),
        log_index: log.log_index.to(),
    }
}
