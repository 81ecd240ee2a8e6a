//! Open work: jobs that wait for delivery, and agents that sell calls.

use plugin_api::{Address, AgentId, HostError, JobId, List, Query, Wei};
use serde::Deserialize;

const ITEMS_MAX: u32 = 500;

#[derive(Deserialize)]
pub struct OpenJob {
    pub id: JobId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub client: Address,
    pub amount: Wei,
    pub input_uri: String,
    pub created_at: i64,
}

const JOBS: List =
    List::new("agents_jobs j", "j.id, j.agent_id, a.name AS agent_name, j.client, j.amount, j.input_uri, j.created_at")
        .join("LEFT JOIN agents_agents a ON a.id = j.agent_id")
        .order_by("j.id DESC");

/// The newest open jobs, or this one if it is open.
pub async fn open_jobs(db: &impl Query, id: Option<i64>) -> Result<Vec<OpenJob>, HostError> {
    JOBS.filter_if(true, "j.status = 'Open'").filter("j.id = {}", id).first(ITEMS_MAX).rows(db).await
}

#[derive(Deserialize)]
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

/// In this order of the tables: few cards have a price, and an index has them.
const PRICED_AGENTS: List = List::new(
    "agents_cards c CROSS JOIN agents_agents a",
    "a.id, a.name, a.owner, a.endpoint, a.registered_at, c.description, c.capabilities, c.price_per_call",
)
.order_by("c.agent_id DESC");

/// The newest active agents whose card has a price per call, or this one if it is one of them.
pub async fn priced_agents(db: &impl Query, id: Option<i64>) -> Result<Vec<PricedAgent>, HostError> {
    let is_priced = "c.price_per_call IS NOT NULL AND c.price_per_call <> '0' \
        AND a.id = c.agent_id AND a.endpoint = c.endpoint AND a.active = 1";
    PRICED_AGENTS.filter_if(true, is_priced).filter("c.agent_id = {}", id).first(ITEMS_MAX).rows(db).await
}
