//! Reads of jobs for routes. Ids grow with time, so newest first is ordered by id.

use crate::model::{JobRow, JobStatus, JobView};
use plugin_api::{Address, AgentId, HostError, JobId, List, Query};

/// Its rows decode as [`JobRow`]s. A day is the default until the escrow's review window was read for the first time.
const JOBS: List = List::new(
    "agents_jobs j",
    "j.id, j.agent_id, a.name AS agent_name, j.client, j.amount, j.input_hash, j.input_uri, j.output_hash, j.output_uri, \
     j.created_at, j.delivered_at, j.status, j.rating, j.tx_requested, j.tx_delivered, j.tx_closed, \
     coalesce((SELECT value FROM agents_settings WHERE name = 'review_window_s'), 86400) AS review_window_s",
)
.join("LEFT JOIN agents_agents a ON a.id = j.agent_id")
.order_by("j.id DESC");

/// Jobs of a client, of the agents that an account owns today, or of both.
pub fn of_accounts(client: Option<Address>, agent_owner: Option<Address>) -> List {
    // An owner has few of all jobs: `+j.id` makes SQLite find them by agent and sort them, instead of scanning jobs in order.
    let order = if agent_owner.is_some() && client.is_none() { "+j.id DESC" } else { "j.id DESC" };
    JOBS.order_by(order)
        .filter("j.client = {}", client)
        .filter("j.agent_id IN (SELECT id FROM agents_agents WHERE owner = {})", agent_owner)
}

pub fn of_agent(agent: AgentId, status: Option<JobStatus>) -> List {
    JOBS.filter("j.agent_id = {}", Some(agent)).filter("j.status = {}", status)
}

/// Reads the jobs of a list.
pub async fn read(db: &impl Query, jobs: List) -> Result<Vec<JobView>, HostError> {
    Ok(jobs.rows::<JobRow>(db).await?.into_iter().map(JobView::from).collect())
}

pub async fn find(db: &impl Query, id: JobId) -> Result<Option<JobView>, HostError> {
    Ok(read(db, JOBS.filter("j.id = {}", Some(id))).await?.pop())
}
