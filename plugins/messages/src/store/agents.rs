//! Agents, read through the view `agents_v1`.

use plugin_api::{Address, AgentId, HostError, Query, sql};

pub async fn owner(db: &impl Query, agent: AgentId) -> Result<Option<Address>, HostError> {
    db.row(sql("SELECT owner FROM agents_v1 WHERE agent_id = $1").bind(agent)).await
}

/// The endpoint of an agent of this address: the named agent's if it has one, else an active agent's, then the lowest id's.
pub async fn endpoint(db: &impl Query, owner: Address, named: Option<AgentId>) -> Result<Option<String>, HostError> {
    db.row(
        sql("SELECT endpoint FROM agents_v1 WHERE owner = $1 \
             AND (lower(substr(endpoint, 1, 7)) = 'http://' OR lower(substr(endpoint, 1, 8)) = 'https://') \
             ORDER BY CASE WHEN agent_id = $2 THEN 0 ELSE 1 END, CASE WHEN status = 'Active' THEN 0 ELSE 1 END, agent_id \
             LIMIT 1")
        .bind((owner, named.map_or(0, |agent| agent.0))),
    )
    .await
}
