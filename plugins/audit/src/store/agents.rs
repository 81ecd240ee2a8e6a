//! Agents, read through their published view.

use plugin_api::{Address, AgentId, HostError, Query, sql};

/// `None` for an agent that is not indexed.
pub async fn owner(db: &impl Query, agent: AgentId) -> Result<Option<Address>, HostError> {
    db.row(sql("SELECT owner FROM agents_v1 WHERE agent_id = $1").bind(agent)).await
}
