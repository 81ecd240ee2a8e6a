//! Stores every log of the contracts. The rule: a row follows from the log and from earlier logs alone, and no log makes a handler
//! fail, because the index would retry it forever.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{
    Audit,
    model::{EVENTS, WatchedEvent},
    store::derived,
};
use plugin_api::{Definition, HostError, PluginContext, Tx, contracts::ChainEvent};
use serde_json::value::RawValue;
use std::future::ready;

pub fn subscribe(definition: Definition<Audit>) -> Definition<Audit> {
    EVENTS.into_iter().fold(definition, |definition, (contract, declaration)| {
        let event = WatchedEvent::new(contract, declaration);
        let handle =
            move |_: PluginContext<Audit>, tx: Tx, log: ChainEvent<Box<RawValue>>| ready(store(&event, &tx, &log));
        definition.on_chain_event(contract, declaration, &derived::TABLES, handle)
    })
}

fn store(event: &WatchedEvent, tx: &Tx, log: &ChainEvent<Box<RawValue>>) -> Result<(), HostError> {
    let facts = event.facts(&log.args);
    tx.defer(derived::insert_log(event, log, &facts))?;
    for address in &facts.addresses {
        tx.defer(derived::insert_address(event, log, address))?;
    }
    // A request is the only event of the escrow that names both.
    match (event.is_job_request(), facts.job, facts.agent) {
        (true, Some(job), Some(agent)) => tx.defer(derived::insert_job(job, agent)),
        _ => Ok(()),
    }
}
