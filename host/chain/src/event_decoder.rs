//! Decodes the logs of one event signature.

use super::{
    abi_value::{EventArguments, EventParameter},
    raw_log::RawLog,
};
use alloy::{
    dyn_abi::{DynSolEvent, Specifier as _},
    json_abi::{Event, EventParam},
};
use alloy_primitives::B256;

/// The decoder of one event signature.
pub struct EventDecoder {
    event: Event,
    resolved: DynSolEvent,
    parameters: Vec<EventParameter>,
    /// The hash of the signature, computed once.
    topic: B256,
}

impl EventDecoder {
    /// Parses `Registered(uint256 indexed agentId, string agentURI)`, with or without `event` in front.
    pub fn parse(signature: &str) -> Result<Self, String> {
        let event = Event::parse(signature).map_err(|error| error.to_string().replace('\n', " "))?;
        let resolved = event.resolve().map_err(|error| error.to_string())?;
        let topic = event.selector();
        let name = |position: usize, name: &str| if name.is_empty() { position.to_string() } else { name.to_owned() };
        let parameter = |(position, input): (usize, &EventParam)| EventParameter {
            name: name(position, &input.name),
            is_indexed: input.indexed,
        };
        let parameters = event.inputs.iter().enumerate().map(parameter).collect();
        Ok(Self { event, resolved, parameters, topic })
    }

    /// The first topic of this event's logs.
    pub fn topic(&self) -> B256 {
        self.topic
    }

    pub fn name(&self) -> &str {
        &self.event.name
    }

    /// The signature with the names of the parameters and `indexed`.
    pub fn full_signature(&self) -> String {
        self.event.full_signature()
    }

    /// The arguments by name; `None` when the log has another layout.
    pub fn decode(&self, log: &RawLog) -> Option<EventArguments<'_>> {
        let values = self.resolved.decode_log_parts(log.topics.iter().copied(), &log.data).ok()?;
        Some(EventArguments { parameters: &self.parameters, values })
    }
}
