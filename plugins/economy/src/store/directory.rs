//! The tables of agents and jobs, with the columns that disputes and tokens need.

use plugin_api::{Address, AgentId, HostError, JobId, Query, Tx, sql};
use serde::Deserialize;

pub const AGENTS_TABLE: &str = "economy_agents";
pub const JOBS_TABLE: &str = "economy_jobs";

pub fn insert_agent(tx: &Tx, id: AgentId, owner: Address, name: &str) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_agents (id, owner, name) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING");
    tx.defer(insert.bind(id).bind(owner).bind(name))
}

pub fn set_owner(tx: &Tx, id: AgentId, owner: Address) -> Result<(), HostError> {
    tx.defer(sql("UPDATE economy_agents SET owner = $2 WHERE id = $1").bind(id).bind(owner))
}

pub fn insert_job(tx: &Tx, id: JobId, agent_id: AgentId, client: Address) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_jobs (id, agent_id, client) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING");
    tx.defer(insert.bind(id).bind(agent_id).bind(client))
}

/// An agent; default values when the id is not indexed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AgentRow {
    pub owner: Option<Address>,
    pub name: Option<String>,
}

pub async fn agent(db: &impl Query, id: i64) -> Result<AgentRow, HostError> {
    let known = db.row(sql("SELECT owner, name FROM economy_agents WHERE id = $1").bind(id)).await?;
    Ok(known.unwrap_or_default())
}

/// A job with its agent's name; default values when the id is not indexed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct JobRow {
    pub agent_id: Option<i64>,
    pub agent_name: Option<String>,
    pub client: Option<Address>,
}

pub async fn job(db: &impl Query, id: i64) -> Result<JobRow, HostError> {
    let select = sql("SELECT j.agent_id, a.name AS agent_name, j.client FROM economy_jobs j \
         LEFT JOIN economy_agents a ON a.id = j.agent_id WHERE j.id = $1");
    Ok(db.row(select.bind(id)).await?.unwrap_or_default())
}
