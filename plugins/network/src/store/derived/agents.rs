//! Agents: whom they count for, and what a job costs. The plugin agents indexes the rest.

use super::folded;
use plugin_api::{
    Address, Sql,
    contracts::{
        ChainEvent,
        registry::{AgentRegistered, AgentUpdated, OwnershipTransferred},
    },
    sql,
};

pub const TABLE: &str = "network_agents";

pub fn insert(event: &ChainEvent<AgentRegistered>) -> Sql {
    let AgentRegistered { id, owner, price_per_job, .. } = &event.args;
    let insert = format!(
        "INSERT INTO network_agents (id, owner, price) VALUES ($1, {}, $3) ON CONFLICT (id) DO NOTHING",
        folded("$2")
    );
    sql(insert).bind((id, owner, price_per_job.sort_key()))
}

pub fn set_owner(event: &ChainEvent<OwnershipTransferred>) -> Sql {
    let update = format!("UPDATE network_agents SET owner = {} WHERE id = $1", folded("$2"));
    sql(update).bind((event.args.id, event.args.to))
}

pub fn set_price(event: &ChainEvent<AgentUpdated>) -> Sql {
    let AgentUpdated { id, price_per_job, .. } = &event.args;
    sql("UPDATE network_agents SET price = $2 WHERE id = $1").bind((id, price_per_job.sort_key()))
}

/// The agents of an account count for its owner.
pub fn fold(account: Address, owner: Address) -> Sql {
    sql("UPDATE network_agents SET owner = $2 WHERE owner = $1").bind((account, owner))
}
