//! Handlers of chain events, one file per contract. The rule: a row follows from events alone, and no event makes a handler
//! fail, because the index would retry it forever.

mod account_factory;
mod arbiter_pool;
mod directory;
mod stream_pay;
mod subscriptions;
mod token_factory;

use crate::Economy;
use plugin_api::{Address, ChainEvent, Definition, EventBuilder, HostError, Tx, Wei};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

pub const EVENT_TYPES: [&str; 8] = [
    account_factory::CREATED_TYPE,
    stream_pay::OPENED_TYPE,
    stream_pay::CANCELLED_TYPE,
    subscriptions::PLAN_TYPE,
    subscriptions::SUB_TYPE,
    arbiter_pool::OPENED_TYPE,
    arbiter_pool::CLOSED_TYPE,
    token_factory::LAUNCHED_TYPE,
];

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    [
        directory::subscribe,
        stream_pay::subscribe,
        subscriptions::subscribe,
        arbiter_pool::subscribe,
        token_factory::subscribe,
        account_factory::subscribe,
    ]
    .into_iter()
    .fold(definition, |definition, contract| contract(definition))
}

/// Publishes an event to the activity log with the block's time and the position on the chain.
fn publish<Args>(
    tx: &Tx,
    event: &ChainEvent<Args>,
    kind: &str,
    actor: Option<Address>,
    about: (&str, String),
    data: Value,
) -> Result<(), HostError> {
    let place = json!({ "tx": event.tx, "block": event.block, "contract": event.contract, "event": event.event });
    let members: Map<String, Value> =
        [data, place].into_iter().filter_map(|part| part.as_object().cloned()).flatten().collect();
    let (about, id) = about;
    let published = EventBuilder::new(kind, &members).subject(about, id).at(event.time_s);
    match actor {
        Some(actor) => published.actor(actor),
        None => published,
    }
    .publish(tx)
}

fn block<Args>(event: &ChainEvent<Args>) -> i64 {
    i64::try_from(event.block).unwrap_or(i64::MAX)
}

/// Decodes 64-bit unsigned seconds. Anyone can make a contract emit a time beyond 2^63 - 1; it is stored as that.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    u64::deserialize(deserializer).map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// The amount that left a payer's deposit: the payee's part and the fee.
fn gross(payee_amount: Wei, fee: Wei) -> Wei {
    payee_amount.saturating_add(fee)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn times_above_i64_max_are_clamped() {
        #[derive(Deserialize)]
        struct Until(#[serde(deserialize_with = "seconds")] i64);
        let read = |text: &str| serde_json::from_str::<Until>(text).unwrap().0;
        assert_eq!((read("7"), read("18446744073709551615")), (7, i64::MAX));
    }
}
