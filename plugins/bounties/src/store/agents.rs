//! Agents and jobs, read through their published views.

use plugin_api::{Address, AgentId, HostError, JobId, Query, sql};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Agent {
    pub owner: Address,
    pub name: String,
}

pub async fn agent(db: &impl Query, agent: AgentId) -> Result<Option<Agent>, HostError> {
    db.row(sql("SELECT owner, name FROM agents_v1 WHERE agent_id = $1").bind(agent)).await
}

#[derive(Debug, Deserialize)]
pub struct Job {
    pub agent_id: AgentId,
    pub client: Address,
    pub status: String,
}

/// `None` while the job is not indexed.
pub async fn job(db: &impl Query, job: JobId) -> Result<Option<Job>, HostError> {
    db.row(sql("SELECT agent_id, client, status FROM jobs_v1 WHERE job_id = $1").bind(job)).await
}
