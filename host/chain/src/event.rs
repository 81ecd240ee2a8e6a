//! From a log to what a plugin hears of it.

use super::{
    argument::{Arguments, Declared},
    log::{Filter, RawLog},
};
use abi_stable::std_types::RVec;
use alloy::{
    dyn_abi::{DynSolEvent, Specifier as _},
    json_abi::{Event, EventParam},
};
use alloy_primitives::{Address, B256};
use gateway_config::ChainConfig;
use plugin_api::{
    abi::EventSource,
    manifest::{ChainEvent, SubscriptionSpec},
};

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
    declared: Vec<Declared>,
    /// A hash of the signature, made once.
    topic: B256,
}

impl Decoder {
    /// `Registered(uint256 indexed agentId, string agentURI)`, with or without `event` in front.
    pub fn parse(signature: &str) -> Result<Self, String> {
        let event = Event::parse(signature).map_err(|error| error.to_string().replace('\n', " "))?;
        let resolved = event.resolve().map_err(|error| error.to_string())?;
        let topic = event.selector();
        let called = |place: usize, name: &str| if name.is_empty() { place.to_string() } else { name.to_owned() };
        let declare = |(place, input): (usize, &EventParam)| Declared {
            name: called(place, &input.name),
            is_indexed: input.indexed,
        };
        let declared = event.inputs.iter().enumerate().map(declare).collect();
        Ok(Self { event, resolved, declared, topic })
    }

    pub fn topic(&self) -> B256 {
        self.topic
    }

    pub fn name(&self) -> &str {
        &self.event.name
    }

    /// The arguments by name; nothing when the log has another layout.
    pub fn arguments(&self, log: &RawLog) -> Option<Arguments<'_>> {
        let values = self.resolved.decode_log_parts(log.topics.iter().copied(), &log.data).ok()?;
        Some(Arguments { declared: &self.declared, values })
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

    /// For the plugin: what it hears of, by whose places in this list its events are told.
    pub fn sources(&self) -> RVec<EventSource> {
        let source = |event: &Subscribed| EventSource {
            subscription: event.index,
            chain: self.chain.as_str().into(),
            contract: event.contract.as_str().into(),
            address: event.address.into_array(),
            event: event.decoder.name().into(),
        };
        self.events.iter().map(source).collect()
    }

    /// Name of the events of that source.
    pub fn event_name(&self, source: u32) -> &str {
        self.events.get(source as usize).map_or("", |event| event.decoder.name())
    }

    /// The arguments of the log to each source that it belongs to.
    pub fn read<'d>(&'d self, log: &'d RawLog) -> impl Iterator<Item = (u32, Arguments<'d>)> {
        let topic = log.topics.first();
        let fits =
            move |event: &(u32, &Subscribed)| event.1.address == log.address && Some(&event.1.decoder.topic) == topic;
        let read = move |(source, event): (u32, &'d Subscribed)| {
            let arguments = event.decoder.arguments(log);
            if arguments.is_none() {
                let (event, tx) = (event.decoder.name(), log.transaction_hash);
                tracing::warn!(event, %tx, "an event has another layout than its signature says; it is left out");
            }
            Some((source, arguments?))
        };
        (0u32..).zip(&self.events).filter(fits).filter_map(read)
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
        time_s: log.time_s(),
        tx: plugin_api::Hash256(log.transaction_hash.0),
        tx_index: log.transaction_index.to(),
        log_index: log.log_index.to(),
    }
}
