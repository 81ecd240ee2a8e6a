//! Reads of jobs for routes. Ids grow with time, so newest first is ordered by id.

use crate::model::{AgentId, JobId, JobStatus};
use plugin_api::{Address, Hash256, HostError, Query, Sql, Wei, sql};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct JobRow {
    pub id: JobId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
    pub client: Address,
    pub amount: Wei,
    pub input_hash: Hash256,
    pub input_uri: String,
    pub output_hash: Option<Hash256>,
    pub output_uri: Option<String>,
    pub created_at: i64,
    pub delivered_at: Option<i64>,
    pub status: JobStatus,
    pub rating: Option<u8>,
    pub tx_requested: Hash256,
    pub tx_delivered: Option<Hash256>,
    pub tx_closed: Option<Hash256>,
    /// How long a client may review a delivery.
    pub review_window_s: i64,
}

/// Default until the escrow was read for the first time.
const REVIEW_WINDOW_S: i64 = 86_400;

fn select() -> Sql {
    sql(format!(
        "SELECT j.id, j.agent_id, a.name AS agent_name, j.client, j.amount, j.input_hash, j.input_uri, j.output_hash, \
         j.output_uri, j.created_at, j.delivered_at, j.status, j.rating, j.tx_requested, j.tx_delivered, j.tx_closed, \
         coalesce((SELECT value FROM agents_settings WHERE name = 'review_window_s'), {REVIEW_WINDOW_S}) \
         AS review_window_s FROM agents_jobs j LEFT JOIN agents_agents a ON a.id = j.agent_id"
    ))
}

/// Selects jobs; both filters apply together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    pub client: Option<Address>,
    /// Current owner of the agent.
    pub agent_owner: Option<Address>,
}

pub async fn list(db: &impl Query, filter: Filter, limit: u32, offset: u32) -> Result<Vec<JobRow>, HostError> {
    let conditions = [
        filter.client.map(|client| ("j.client = {}", client)),
        filter.agent_owner.map(|owner| ("j.agent_id IN (SELECT id FROM agents_agents WHERE owner = {})", owner)),
    ];
    let add = |statement: Sql, (condition, address)| {
        let word = if statement.param_count() == 0 { " WHERE " } else { " AND " };
        statement.push_bind(&format!("{word}{condition}"), address)
    };
    let statement = conditions.into_iter().flatten().fold(select(), add);
    // An owner has few of all jobs: `+j.id` makes SQLite find them by agent and sort them, instead of scanning jobs in order.
    let order = if filter.agent_owner.is_some() && filter.client.is_none() { "+j.id" } else { "j.id" };
    page(db, statement, order, limit, offset).await
}

pub async fn of_agent(
    db: &impl Query,
    agent: AgentId,
    status: Option<JobStatus>,
    limit: u32,
    offset: u32,
) -> Result<Vec<JobRow>, HostError> {
    let statement = select().push_bind(" WHERE j.agent_id = {}", agent);
    let statement = match status {
        Some(status) => statement.push_bind(" AND j.status = {}", status),
        None => statement,
    };
    page(db, statement, "j.id", limit, offset).await
}

async fn page(db: &impl Query, statement: Sql, order: &str, limit: u32, offset: u32) -> Result<Vec<JobRow>, HostError> {
    let statement = statement.push(&format!(" ORDER BY {order} DESC"));
    db.rows(statement.push_bind(" LIMIT {}", limit).push_bind(" OFFSET {}", offset)).await
}

pub async fn find(db: &impl Query, id: JobId) -> Result<Option<JobRow>, HostError> {
    db.row(select().push_bind(" WHERE j.id = {}", id)).await
}
