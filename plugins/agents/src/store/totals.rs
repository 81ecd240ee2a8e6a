//! Totals of the network, and its top agents.

use super::derived::totals::{self, Totals};
use crate::model::{AgentId, AgentStatus};
use plugin_api::{HostError, Query, Wei, sql};
use serde::Deserialize;

pub async fn read(db: &impl Query) -> Result<Totals, HostError> {
    Ok(db.row(totals::read()).await?.unwrap_or_default())
}

/// Number of all agents, and of active ones.
pub async fn count_agents(db: &impl Query) -> Result<(i64, i64), HostError> {
    let counts: Vec<(String, i64)> = db.rows(sql("SELECT status, agents FROM agents_counts")).await?;
    let active = counts.iter().find(|(status, _)| status == AgentStatus::Active.as_str()).map_or(0, |count| count.1);
    Ok((counts.iter().map(|(_, agents)| agents).sum(), active))
}

/// An entry of the list of top agents.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TopAgent {
    pub id: AgentId,
    pub name: String,
    pub endpoint: String,
    pub price_per_job: Wei,
    pub jobs_completed: u32,
    pub rating_count: u32,
    pub rating_sum: u32,
    pub online: bool,
}

/// Active agents by paid jobs, then by paying clients, then by average rating.
pub async fn top_agents(db: &impl Query) -> Result<Vec<TopAgent>, HostError> {
    db.rows(sql("SELECT a.id, a.name, a.endpoint, a.price_per_job, a.jobs_completed, a.rating_count, a.rating_sum, \
         coalesce(c.online, 0) AS online FROM agents_agents a \
         LEFT JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint WHERE a.active = 1 \
         ORDER BY a.paid_jobs DESC, a.payers DESC, a.rating_rank DESC, a.id LIMIT 10"))
        .await
}
