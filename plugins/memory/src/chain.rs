//! Handlers of chain events: anchors, and who owns which agent. The rule: a row follows from events alone.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{
    Memory,
    model::{Anchored, MemoryAnchored},
    store::{agents, anchors},
};
use plugin_api::{Definition, HostError, PluginContext, Tx, contracts::ChainEvent};

pub fn subscribe(definition: Definition<Memory>) -> Definition<Memory> {
    definition.derive_agents(agents::TABLE).on_contract_event(&[anchors::TABLE], anchored)
}

async fn anchored(_: PluginContext<Memory>, tx: Tx, event: ChainEvent<Anchored>) -> Result<(), HostError> {
    tx.defer(anchors::insert(&event))?;
    let (owner, name) = agents::find(&tx, event.args.agent_id).await?.unzip();
    let Anchored { agent_id, seq, root, prev_root, count, total_records, anchored_by, uri } = &event.args;
    let published = MemoryAnchored {
        agent_id: *agent_id,
        agent_name: name.as_deref(),
        root: *root,
        prev_root: *prev_root,
        anchor_seq: *seq,
        count: *count,
        total_records: *total_records,
        uri,
        actor: owner.unwrap_or(*anchored_by),
    };
    event.publish(&tx, &published)
}
