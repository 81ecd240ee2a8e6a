//! Agents and jobs, read through their published views.

use plugin_api::{Address, AgentId, HostError, JobId, Query, sql};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Agent {
    pub owner: Address,
    pub name: String,
}

pub async fn find(db: &impl Query, agent: AgentId) -> Result<Option<Agent>, HostError> {
    db.row(sql("SELECT owner, name FROM agents_v1 WHERE agent_id = $1").bind(agent)).await
}

/// Whether an address currently owns an active agent.
pub async fn owns_active(db: &impl Query, owner: Address) -> Result<bool, HostError> {
    let active = sql("SELECT agent_id FROM agents_v1 WHERE owner = $1 AND status = 'Active' LIMIT 1").bind(owner);
    Ok(db.row::<i64>(active).await?.is_some())
}

/// Agent and client of a job that is indexed.
pub async fn find_job(db: &impl Query, job: JobId) -> Result<Option<(AgentId, Address)>, HostError> {
    db.row(sql("SELECT agent_id, client FROM jobs_v1 WHERE job_id = $1").bind(job)).await
}
