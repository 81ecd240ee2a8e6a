//! Open work: jobs that wait for delivery, and agents that sell calls.

use crate::model::{AgentId, JobId};
use plugin_api::{Address, HostError, Query, Sql, Wei, sql};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct OpenJob {
    pub id: JobId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub client: Address,
    pub amount: Wei,
    pub input_uri: String,
    pub created_at: i64,
}

const JOBS: &str = "SELECT j.id, j.agent_id, (SELECT a.name FROM agents_agents a WHERE a.id = j.agent_id) AS agent_name, \
    j.client, j.amount, j.input_uri, j.created_at FROM agents_jobs j WHERE j.status = 'Open'";

/// The newest first.
pub async fn open_jobs(db: &impl Query, limit: u32) -> Result<Vec<OpenJob>, HostError> {
    db.rows(sql(JOBS).push_bind(" ORDER BY j.id DESC LIMIT {}", limit)).await
}

/// The job, if it is open.
pub async fn open_job(db: &impl Query, job: i64) -> Result<Option<OpenJob>, HostError> {
    db.row(sql(JOBS).push_bind(" AND j.id = {}", job)).await
}

#[derive(Clone, Debug, Deserialize)]
pub struct PricedAgent {
    pub id: AgentId,
    pub name: String,
    pub owner: Address,
    pub endpoint: String,
    pub registered_at: i64,
    pub description: Option<String>,
    /// A JSON array.
    pub capabilities: Option<String>,
    pub price_per_call: Wei,
}

fn priced() -> Sql {
    sql("SELECT a.id, a.name, a.owner, a.endpoint, a.registered_at, c.description, c.capabilities, c.price_per_call \
         FROM agents_agents a JOIN agents_cards c ON c.agent_id = a.id AND c.endpoint = a.endpoint \
         WHERE a.active = 1 AND c.price_per_call IS NOT NULL AND c.price_per_call <> '0'")
}

/// The newest active agents whose card has a price per call.
pub async fn priced_agents(db: &impl Query, limit: u32) -> Result<Vec<PricedAgent>, HostError> {
    db.rows(priced().push_bind(" ORDER BY a.id DESC LIMIT {}", limit)).await
}

/// This agent, if it is one of them.
pub async fn priced_agent(db: &impl Query, agent: i64) -> Result<Option<PricedAgent>, HostError> {
    db.row(priced().push_bind(" AND a.id = {}", agent)).await
}
