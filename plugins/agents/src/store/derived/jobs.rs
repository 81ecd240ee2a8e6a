//! Jobs: every change returns the job after it, with its agent, for the event that is published.

use super::{agents::outcome, totals};
use crate::{
    chain::Delivered,
    model::{JobFacts, JobId, JobStatus},
};
use plugin_api::{ChainEvent, Hash256, HostError, HostErrorCode, Sql, Tx, Wei, contracts::escrow::JobRequested, sql};

/// How a job ended.
pub struct JobEnd {
    pub status: JobStatus,
    pub closed_at: i64,
    pub tx: Hash256,
    pub rating: Option<u8>,
    pub by_agent: Option<bool>,
    pub settled: Option<Settlement>,
}

/// Amounts of a settlement.
pub struct Settlement {
    pub agent_payout: Wei,
    pub client_amount: Option<Wei>,
    pub fee: Wei,
}

impl JobEnd {
    pub fn new(status: JobStatus, closed_at: i64, tx: Hash256) -> Self {
        Self { status, closed_at, tx, rating: None, by_agent: None, settled: None }
    }
}

fn find(id: JobId) -> Sql {
    sql("SELECT j.id AS job_id, j.agent_id, a.name AS agent_name, a.owner, j.client, j.amount, j.status \
         FROM agents_jobs j LEFT JOIN agents_agents a ON a.id = j.agent_id WHERE j.id = $1")
    .bind(id)
}

async fn change(tx: &Tx, id: JobId, update: Sql) -> Result<Option<JobFacts>, HostError> {
    let outcomes = tx.batch(vec![update, find(id)]).await?;
    outcome(&outcomes, 1)?.first()
}

pub async fn request(tx: &Tx, event: &ChainEvent<JobRequested>) -> Result<JobFacts, HostError> {
    let job = &event.args;
    let insert =
        sql("INSERT INTO agents_jobs (id, agent_id, client, amount, input_hash, input_uri, status, created_at, \
         tx_requested) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)")
        .bind(job.job_id)
        .bind(job.agent_id)
        .bind(job.client)
        .bind(job.amount)
        .bind(job.input_hash)
        .bind(&job.input_uri)
        .bind(JobStatus::Open)
        .bind(event.time_s)
        .bind(event.tx);
    let outcomes = tx.batch(vec![insert, totals::count_job(), find(job.job_id)]).await?;
    let missing = || HostError::new(HostErrorCode::Internal, "a job that was stored is not there");
    outcome(&outcomes, 2)?.first()?.ok_or_else(missing)
}

/// An empty URI and an all-zero hash are stored as absent.
pub async fn deliver(tx: &Tx, event: &ChainEvent<Delivered>) -> Result<Option<JobFacts>, HostError> {
    let Delivered { job_id, output_hash, output_uri } = &event.args;
    let update = sql("UPDATE agents_jobs SET status = $2, output_hash = $3, output_uri = $4, delivered_at = $5, \
         tx_delivered = $6 WHERE id = $1")
    .bind(*job_id)
    .bind(JobStatus::Delivered)
    .bind(Some(*output_hash).filter(|hash| hash.0 != [0; 32]))
    .bind(Some(output_uri.as_str()).filter(|uri| !uri.is_empty()))
    .bind(event.time_s)
    .bind(event.tx);
    change(tx, *job_id, update).await
}

pub async fn dispute(tx: &Tx, id: JobId) -> Result<Option<JobFacts>, HostError> {
    change(tx, id, sql("UPDATE agents_jobs SET status = $2 WHERE id = $1").bind(id).bind(JobStatus::Disputed)).await
}

pub async fn close(tx: &Tx, id: JobId, closing: &JobEnd) -> Result<Option<JobFacts>, HostError> {
    let settled = closing.settled.as_ref();
    let update =
        sql("UPDATE agents_jobs SET status = $2, closed_at = $3, tx_closed = $4, rating = $5, by_agent = $6, \
         agent_payout = $7, client_amount = $8, fee = $9 WHERE id = $1")
        .bind(id)
        .bind(closing.status)
        .bind(closing.closed_at)
        .bind(closing.tx)
        .bind(closing.rating)
        .bind(closing.by_agent)
        .bind(settled.map(|settled| settled.agent_payout))
        .bind(settled.and_then(|settled| settled.client_amount))
        .bind(settled.map(|settled| settled.fee));
    change(tx, id, update).await
}
