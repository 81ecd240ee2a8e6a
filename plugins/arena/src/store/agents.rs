//! Agents and jobs, read through their published views.

use super::placeholders;
use crate::model::{AgentId, JobId};
use plugin_api::{Address, HostError, Query, Sql, sql};
use serde::Deserialize;
use std::collections::BTreeMap;

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

/// Names of agents; `None` for one that is not indexed.
pub async fn names(
    db: &impl Query,
    agents: impl IntoIterator<Item = AgentId>,
) -> Result<BTreeMap<AgentId, String>, HostError> {
    let mut agents: Vec<AgentId> = agents.into_iter().collect();
    agents.sort_unstable();
    agents.dedup();
    let mut names = BTreeMap::new();
    for some in agents.chunks(CHUNK) {
        let text = format!("SELECT agent_id, name FROM agents_v1 WHERE agent_id IN ({})", placeholders(1, some.len()));
        let rows: Vec<(AgentId, String)> = db.rows(some.iter().copied().fold(sql(text), Sql::bind)).await?;
        names.extend(rows);
    }
    Ok(names)
}

const CHUNK: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Job {
    pub job_id: JobId,
    pub agent_id: AgentId,
    pub client: Address,
    pub status: String,
}

/// Those of the jobs that are indexed.
pub async fn jobs(db: &impl Query, jobs: impl IntoIterator<Item = JobId>) -> Result<BTreeMap<JobId, Job>, HostError> {
    let jobs: Vec<JobId> = jobs.into_iter().collect();
    let mut found = BTreeMap::new();
    for some in jobs.chunks(CHUNK) {
        let text = format!(
            "SELECT job_id, agent_id, client, status FROM jobs_v1 WHERE job_id IN ({})",
            placeholders(1, some.len())
        );
        let rows: Vec<Job> = db.rows(some.iter().copied().fold(sql(text), Sql::bind)).await?;
        found.extend(rows.into_iter().map(|job| (job.job_id, job)));
    }
    Ok(found)
}
