//! Agents, as the plugin agents publishes them, and who owned which when an event came.

use crate::model::{Agent, Namesake};
use plugin_api::{Address, AgentId, HostError, Query, contracts::registry::AgentName, sql};
use std::collections::BTreeSet;

pub const TABLE: &str = "aicv_agents";

const COLUMNS: &str = "agent_id, owner, name, slug, registered_at, jobs_completed, jobs_failed, rating_count, rating_sum, endpoint, \
     status, price_per_job, bond";

/// Namesakes that a document lists.
const NAMESAKES_MAX: i64 = 20;

pub async fn find(db: &impl Query, name: &AgentName) -> Result<Option<Agent>, HostError> {
    db.row(name.select(COLUMNS)).await
}

/// Other agents of the same slug, the oldest first, and how many there are.
pub async fn namesakes(db: &impl Query, agent: &Agent) -> Result<(Vec<Namesake>, u64), HostError> {
    let others = "FROM agents_v1 WHERE slug = $1 AND agent_id <> $2";
    let select = sql(format!("SELECT agent_id, owner, status {others} ORDER BY agent_id LIMIT $3"));
    let namesakes = db.rows(select.bind((&agent.slug, agent.agent_id, NAMESAKES_MAX))).await?;
    let count: i64 = db.one(sql(format!("SELECT count(*) {others}")).bind((&agent.slug, agent.agent_id))).await?;
    Ok((namesakes, u64::try_from(count).unwrap_or_default()))
}

/// Which of these jobs are the agent's.
pub async fn own_jobs(db: &impl Query, agent: AgentId, jobs: &BTreeSet<i64>) -> Result<BTreeSet<i64>, HostError> {
    let mut own = BTreeSet::new();
    let jobs: Vec<i64> = jobs.iter().copied().collect();
    for part in jobs.chunks(500) {
        let select = sql("SELECT job_id FROM jobs_v1 WHERE agent_id = $1 AND job_id").bind(agent);
        own.extend(db.rows::<i64>(select.push_in(part.iter().copied())).await?);
    }
    Ok(own)
}

/// Owner and name.
pub async fn find_indexed(db: &impl Query, agent: AgentId) -> Result<Option<(Address, String)>, HostError> {
    db.row(sql("SELECT owner, name FROM aicv_agents WHERE id = $1").bind(agent)).await
}
