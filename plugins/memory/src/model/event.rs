//! The event of the activity log: public data of the chain. Writes to the memory publish nothing.

use plugin_api::{Address, AgentId, Event, Hash256};
use serde::Serialize;

/// A batch was anchored. The actor is the agent's owner, or who sent the transaction where the agent is not indexed.
#[derive(Debug, Serialize, Event)]
#[serde(rename_all = "camelCase")]
#[event("memory.anchored", subject = "agent", id = agent_id, actor = actor)]
pub struct MemoryAnchored<'a> {
    pub agent_id: AgentId,
    pub agent_name: Option<&'a str>,
    pub root: Hash256,
    pub prev_root: Hash256,
    pub anchor_seq: i64,
    pub count: i64,
    pub total_records: i64,
    pub uri: &'a str,
    #[serde(skip)]
    pub actor: Address,
}
