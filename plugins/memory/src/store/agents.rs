//! Agents and who owns them, derived from the registry's events. The plugin agents indexes the rest.

use plugin_api::{Address, AgentId, HostError, Query, sql};

pub const TABLE: &str = "memory_agents";

/// Owner and name.
pub async fn find(db: &impl Query, agent: AgentId) -> Result<Option<(Address, String)>, HostError> {
    db.row(sql("SELECT owner, name FROM memory_agents WHERE id = $1").bind(agent)).await
}

/// The agent of this owner with the lowest id.
pub async fn first_of(db: &impl Query, owner: Address) -> Result<Option<AgentId>, HostError> {
    db.row(sql("SELECT id FROM memory_agents WHERE owner = $1 ORDER BY id LIMIT 1").bind(owner)).await
}
