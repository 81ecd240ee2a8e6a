//! Jobs: every change returns the job after it, with its agent, for the event that is published.

use super::{batch, totals};
use crate::{
    chain::JobDelivered,
    model::{JobFacts, JobStatus},
};
use plugin_api::{ChainEvent, Hash256, HostError, JobId, Sql, Tx, Wei, contracts::escrow::JobRequested, sql};

/// How a job ended.
pub struct JobEnd {
    pub status: JobStatus,
    pub closed_at: i64,
    pub tx: Hash256,
    pub rating: Option<u8>,
    pub by_agent: Option<bool>,
    pub agent_payout: Option<Wei>,
    pub client_amount: Option<Wei>,
    pub fee: Option<Wei>,
}

impl JobEnd {
    pub fn new<Args>(status: JobStatus, event: &ChainEvent<Args>) -> Self {
        Self {
            status,
            closed_at: event.time_s,
            tx: event.tx,
            rating: None,
            by_agent: None,
            agent_payout: None,
            client_amount: None,
            fee: None,
        }
    }
}

fn find(id: JobId) -> Sql {
    sql("SELECT j.id AS job_id, j.agent_id, a.name AS agent_name, a.owner, j.client, j.amount, j.status \
         FROM agents_jobs j LEFT JOIN agents_agents a ON a.id = j.agent_id WHERE j.id = $1")
    .bind(id)
}

async fn change(tx: &Tx, id: JobId, update: Sql) -> Result<Option<JobFacts>, HostError> {
    let [_, job] = batch(tx, [update, find(id)]).await?;
    job.first()
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
    let [_, _, stored] = batch(tx, [insert, totals::count_job(), find(job.job_id)]).await?;
    stored.one()
}

/// An empty URI and an all-zero hash are stored as absent.
pub async fn deliver(tx: &Tx, event: &ChainEvent<JobDelivered>) -> Result<Option<JobFacts>, HostError> {
    let JobDelivered { job_id, output_hash, output_uri } = &event.args;
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

pub async fn close(tx: &Tx, id: JobId, end: &JobEnd) -> Result<Option<JobFacts>, HostError> {
    let update =
        sql("UPDATE agents_jobs SET status = $2, closed_at = $3, tx_closed = $4, rating = $5, by_agent = $6, \
         agent_payout = $7, client_amount = $8, fee = $9 WHERE id = $1")
        .bind(id)
        .bind(end.status)
        .bind(end.closed_at)
        .bind(end.tx)
        .bind(end.rating)
        .bind(end.by_agent)
        .bind(end.agent_payout)
        .bind(end.client_amount)
        .bind(end.fee);
    change(tx, id, update).await
}
