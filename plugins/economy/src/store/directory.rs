//! The tables of agents and jobs, with the columns that disputes and tokens need. The plugin agents indexes the rest.

use crate::model::JobParties;
use plugin_api::{
    Address, AgentId, HostError, JobId, Query, Sql,
    contracts::{ChainEvent, escrow::JobRequested},
    sql,
};

pub const AGENTS_TABLE: &str = "economy_agents";
pub const JOBS_TABLE: &str = "economy_jobs";

pub fn insert_job(event: &ChainEvent<JobRequested>) -> Sql {
    let JobRequested { job_id, agent_id, client, .. } = event.args;
    let insert = sql("INSERT INTO economy_jobs (id, agent_id, client) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING");
    insert.bind((job_id, agent_id, client))
}

/// Owner and name of an agent, if it is indexed.
pub async fn agent(db: &impl Query, id: AgentId) -> Result<Option<(Address, String)>, HostError> {
    db.row(sql("SELECT owner, name FROM economy_agents WHERE id = $1").bind(id)).await
}

pub async fn job(db: &impl Query, id: JobId) -> Result<JobParties, HostError> {
    let select = sql("SELECT j.agent_id, a.name AS agent_name, j.client FROM economy_jobs j \
         LEFT JOIN economy_agents a ON a.id = j.agent_id WHERE j.id = $1");
    Ok(db.row(select.bind(id)).await?.unwrap_or_default())
}
