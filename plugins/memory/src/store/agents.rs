//! Agents and who owns them, derived from the registry's events. The plugin agents indexes the rest.

use plugin_api::{
    Address, AgentId, HostError, Query, Sql,
    contracts::{
        ChainEvent,
        registry::{AgentRegistered, OwnershipTransferred},
    },
    sql,
};

pub const TABLE: &str = "memory_agents";

pub fn insert(event: &ChainEvent<AgentRegistered>) -> Sql {
    let AgentRegistered { id, owner, name, .. } = &event.args;
    let insert = sql("INSERT INTO memory_agents (id, owner, name) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING");
    insert.bind((id, owner, name))
}

pub fn set_owner(event: &ChainEvent<OwnershipTransferred>) -> Sql {
    sql("UPDATE memory_agents SET owner = $2 WHERE id = $1").bind((event.args.id, event.args.to))
}

/// Owner and name.
pub async fn find(db: &impl Query, agent: AgentId) -> Result<Option<(Address, String)>, HostError> {
    db.row(sql("SELECT owner, name FROM memory_agents WHERE id = $1").bind(agent)).await
}

/// The agent of this owner with the lowest id.
pub async fn first_of(db: &impl Query, owner: Address) -> Result<Option<AgentId>, HostError> {
    db.row(sql("SELECT id FROM memory_agents WHERE owner = $1 ORDER BY id LIMIT 1").bind(owner)).await
}
