//! The event subscriptions of one plugin. The rule: the position of a subscription in the list is the source number by
//! which the plugin knows its events.

use abi_stable::std_types::RVec;
use alloy_primitives::Address;
use gateway_chain::{EventArguments, EventDecoder, LogFilter, RawLog};
use gateway_config::ChainConfig;
use plugin_api::{abi::EventSource, manifest::SubscriptionSpec};

/// The subscriptions whose contracts are deployed.
pub struct EventSubscriptions {
    chain: String,
    subscriptions: Vec<EventSubscription>,
}

struct EventSubscription {
    /// Position in the manifest.
    index: u32,
    contract: String,
    address: Address,
    decoder: EventDecoder,
}

impl EventSubscriptions {
    /// Leaves out contracts that are not deployed. A signature that cannot be parsed is an error of the plugin.
    pub fn new(chain: &str, config: &ChainConfig, specs: &[SubscriptionSpec]) -> Result<Self, String> {
        let mut subscriptions = Vec::new();
        for (index, spec) in (0u32..).zip(specs) {
            let decoder =
                EventDecoder::parse(&spec.event).map_err(|error| format!("the event {}: {error}", spec.event))?;
            if let Some(address) = config.contract(&spec.contract) {
                let address = Address::from(address.0);
                subscriptions.push(EventSubscription { index, contract: spec.contract.clone(), address, decoder });
            }
        }
        Ok(Self { chain: chain.to_owned(), subscriptions })
    }

    pub fn is_empty(&self) -> bool {
        self.subscriptions.is_empty()
    }

    pub fn filter(&self) -> LogFilter {
        let mut filter = LogFilter::default();
        for subscription in &self.subscriptions {
            filter.addresses.push(subscription.address);
            filter.topics.push(subscription.decoder.topic());
        }
        filter.addresses.sort_unstable();
        filter.addresses.dedup();
        filter.topics.sort_unstable();
        filter.topics.dedup();
        filter
    }

    /// Addresses and signatures as text: when it changes, all rows must be derived again.
    pub fn definition(&self) -> String {
        let line = |subscription: &EventSubscription| {
            format!("{} {}", subscription.address, subscription.decoder.full_signature())
        };
        self.subscriptions.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The sources for the plugin, by source number.
    pub fn sources(&self) -> RVec<EventSource> {
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
    pub fn event_name(&self, source: u32) -> &str {
        self.subscriptions.get(source as usize).map_or("", |subscription| subscription.decoder.name())
    }

    /// The decoded arguments for each source that the log belongs to.
    pub fn decode<'d>(&'d self, log: &'d RawLog) -> impl Iterator<Item = (u32, EventArguments<'d>)> {
        let topic = log.topics.first();
        let matches = move |(_, subscription): &(u32, &EventSubscription)| {
            subscription.address == log.address && Some(&subscription.decoder.topic()) == topic
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
