//! Decodes the logs of one event signature.

use super::{
    abi_value::{EventArguments, EventParameter, argument_value},
    raw_log::RawLog,
};
use alloy::{
    dyn_abi::{DynSolEvent, Specifier as _},
    json_abi::{Event, EventParam},
};
use alloy_primitives::B256;
use serde_json::Value;
use std::collections::BTreeMap;

/// Values of one argument that are looked for at a time.
const TOPIC_VALUES_MAX: usize = 1_000;

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

    /// The topics after the first that logs have whose indexed arguments have these values.
    pub fn indexed_topics(&self, values: &BTreeMap<String, Vec<Value>>) -> Result<Vec<Vec<B256>>, String> {
        let indexed: Vec<&EventParam> = self.event.inputs.iter().filter(|input| input.indexed).collect();
        if let Some(unknown) = values.keys().find(|name| indexed.iter().all(|input| input.name != **name)) {
            return Err(format!("`{unknown}` is no indexed argument of {}", self.event.full_signature()));
        }
        let topics = indexed.into_iter().map(|input| match values.get(&input.name) {
            None => Ok(Vec::new()),
            Some(values) => topics_of(input, values),
        });
        let mut topics = topics.collect::<Result<Vec<_>, String>>()?;
        let filtered = topics.iter().rposition(|values| !values.is_empty()).map_or(0, |last| last + 1);
        topics.truncate(filtered);
        Ok(topics)
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

fn topics_of(input: &EventParam, values: &[Value]) -> Result<Vec<B256>, String> {
    if values.is_empty() || values.len() > TOPIC_VALUES_MAX {
        return Err(format!("`{}`: 1 to {TOPIC_VALUES_MAX} values are looked for, not {}", input.name, values.len()));
    }
    let kind = input.resolve().map_err(|error| error.to_string())?;
    let topic = |value: &Value| {
        let value = argument_value(&kind, value).map_err(|error| format!("`{}`: {error}", input.name))?;
        // Longer values are in the log as their hash, which depends on how they are encoded.
        value.as_word().ok_or_else(|| format!("`{}`: a {kind} is not looked for", input.name))
    };
    values.iter().map(topic).collect()
}
