//! Jobs that are not settled, so that their settlement tells who paid how much.

use plugin_api::{
    Address, AgentId, HostError, JobId, Query as _, Sql, Tx, Wei,
    contracts::{ChainEvent, escrow::JobRequested},
    sql,
};
use serde::Deserialize;

pub const TABLE: &str = "network_jobs";

#[derive(Debug, Deserialize)]
pub struct OpenJob {
    pub agent_id: AgentId,
    pub client: Address,
    pub amount: Wei,
}

/// A job of an agent that the registry does not have is no edge.
pub fn insert(event: &ChainEvent<JobRequested>) -> Sql {
    let JobRequested { job_id, agent_id, client, amount, .. } = &event.args;
    let insert = "INSERT INTO network_jobs (id, agent_id, client, amount) \
         SELECT $1, a.id, $3, $4 FROM network_agents a WHERE a.id = $2 ON CONFLICT (id) DO NOTHING";
    sql(insert).bind((job_id, agent_id, client, amount.sort_key()))
}

/// Removes a job that is settled, which thus counts once.
pub async fn take(tx: &Tx, id: JobId) -> Result<Option<OpenJob>, HostError> {
    tx.row(sql("DELETE FROM network_jobs WHERE id = $1 RETURNING agent_id, client, amount").bind(id)).await
}
