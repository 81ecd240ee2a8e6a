//! Handlers of chain events: anchors, and who owns which agent. The rule: a row follows from events alone.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{
    Memory,
    model::{CONTRACT, MemoryAnchored},
    store::{agents, anchors},
};
use plugin_api::{
    Address, AgentId, Definition, Hash256, HostError, PluginContext, Tx,
    contracts::{ChainEvent, ContractEvent, chain_int},
};
use serde::Deserialize;

pub fn subscribe(definition: Definition<Memory>) -> Definition<Memory> {
    definition.derive_agents(agents::TABLE).on_contract_event(&[anchors::TABLE], anchored)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(
    CONTRACT,
    "MemoryAnchored(uint256 indexed agentId, uint64 indexed seq, bytes32 indexed root, bytes32 prevRoot, uint32 count, \
     uint64 totalRecords, address anchoredBy, string uri)"
)]
pub struct Anchored {
    pub agent_id: AgentId,
    /// From 1 for each agent.
    #[serde(deserialize_with = "chain_int")]
    pub seq: i64,
    pub root: Hash256,
    pub prev_root: Hash256,
    #[serde(deserialize_with = "chain_int")]
    pub count: i64,
    #[serde(deserialize_with = "chain_int")]
    pub total_records: i64,
    /// Who sent the transaction.
    pub anchored_by: Address,
    /// Untrusted.
    pub uri: String,
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
