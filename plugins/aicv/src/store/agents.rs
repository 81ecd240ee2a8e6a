//! Agents, as the plugin agents publishes them, and who owned which when an event came.

use crate::model::{Agent, AgentName, Namesake};
use plugin_api::{Address, AgentId, HostError, Query, sql};
use std::collections::BTreeSet;

pub const TABLE: &str = "aicv_agents";

const COLUMNS: &str = "agent_id, owner, name, slug, registered_at, jobs_completed, jobs_failed, rating_count, rating_sum, endpoint, \
     status, price_per_job, bond";

/// Namesakes that a document lists.
const NAMESAKES_MAX: i64 = 20;

/// Of several agents with one slug the oldest, whatever its status.
pub async fn find(db: &impl Query, name: &AgentName) -> Result<Option<Agent>, HostError> {
    let select = match name {
        AgentName::Id(id) => sql(format!("SELECT {COLUMNS} FROM agents_v1 WHERE agent_id = $1")).bind(*id),
        AgentName::Slug(slug) => {
            sql(format!("SELECT {COLUMNS} FROM agents_v1 WHERE slug = $1 ORDER BY agent_id LIMIT 1")).bind(slug)
        }
    };
    db.row(select).await
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
        let select = sql("SELECT job_id FROM jobs_v1 WHERE agent_id = $1 AND job_id IN (NULL").bind(agent);
        let select = part.iter().fold(select, |select, job| select.push_bind(", {}", *job)).push(")");
        own.extend(db.rows::<i64>(select).await?);
    }
    Ok(own)
}

/// Owner and name.
pub async fn find_indexed(db: &impl Query, agent: AgentId) -> Result<Option<(Address, String)>, HostError> {
    db.row(sql("SELECT owner, name FROM aicv_agents WHERE id = $1").bind(agent)).await
}
