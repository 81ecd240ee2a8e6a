//! Jobs: every change returns the job after it, with its agent, for the event that is published.

use super::{
    records::{self, RecordCounts},
    totals,
};
use crate::{
    chain::{JobDelivered, JobRefunded},
    model::{JobFacts, JobStatus},
};
use plugin_api::{
    HostError, JobId, Sql, Tx,
    contracts::{
        ChainEvent,
        escrow::{JobCompleted, JobRequested, JobResolved},
    },
    sql,
};

fn find(id: JobId) -> Sql {
    sql("SELECT j.id AS job_id, j.agent_id, a.name AS agent_name, a.owner, j.client, j.amount, j.status \
         FROM agents_jobs j LEFT JOIN agents_agents a ON a.id = j.agent_id WHERE j.id = $1")
    .bind(id)
}

/// Sets the status of the job `$1`, and these columns.
fn set(id: JobId, status: JobStatus, columns: &str) -> Sql {
    sql(format!("UPDATE agents_jobs SET status = $2{columns} WHERE id = $1")).bind((id, status))
}

async fn change(tx: &Tx, id: JobId, set: Sql) -> Result<Option<JobFacts>, HostError> {
    let [_, job] = tx.run_all([set, find(id)]).await?;
    job.first()
}

pub async fn request(tx: &Tx, event: &ChainEvent<JobRequested>) -> Result<JobFacts, HostError> {
    let job = &event.args;
    let insert =
        sql("INSERT INTO agents_jobs (id, agent_id, client, amount, input_hash, input_uri, status, created_at, \
         tx_requested) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)")
        .bind((job.job_id, job.agent_id, job.client, job.amount, job.input_hash, &job.input_uri, JobStatus::Open))
        .bind((event.time_s, event.tx));
    let count = records::add(job.agent_id, RecordCounts { jobs: 1, ..RecordCounts::default() });
    let [_, _, _, stored] = tx.run_all([insert, totals::count_job(), count, find(job.job_id)]).await?;
    stored.one()
}

/// An empty URI and an all-zero hash are stored as absent.
pub async fn deliver(tx: &Tx, event: &ChainEvent<JobDelivered>) -> Result<Option<JobFacts>, HostError> {
    let JobDelivered { job_id, output_hash, output_uri } = &event.args;
    let columns = ", delivered_at = $3, tx_delivered = $4, output_hash = $5, output_uri = $6";
    let set = set(*job_id, JobStatus::Delivered, columns)
        .bind((event.time_s, event.tx, Some(*output_hash).filter(|hash| hash.0 != [0; 32])))
        .bind(Some(output_uri.as_str()).filter(|uri| !uri.is_empty()));
    let delivered = change(tx, *job_id, set).await?;
    if let Some(job) = &delivered {
        tx.defer(records::add(job.agent_id, RecordCounts { delivered: 1, ..RecordCounts::default() }))?;
    }
    Ok(delivered)
}

pub async fn dispute(tx: &Tx, id: JobId) -> Result<Option<JobFacts>, HostError> {
    change(tx, id, set(id, JobStatus::Disputed, "")).await
}

pub async fn complete(tx: &Tx, event: &ChainEvent<JobCompleted>) -> Result<Option<JobFacts>, HostError> {
    let JobCompleted { job_id, agent_payout, fee, rating } = event.args;
    let columns = ", closed_at = $3, tx_closed = $4, agent_payout = $5, fee = $6, rating = $7";
    let set = set(job_id, JobStatus::Completed, columns).bind((event.time_s, event.tx));
    change(tx, job_id, set.bind((agent_payout, fee, rating))).await
}

pub async fn refund(tx: &Tx, event: &ChainEvent<JobRefunded>) -> Result<Option<JobFacts>, HostError> {
    let JobRefunded { job_id, by_agent } = event.args;
    let columns = ", closed_at = $3, tx_closed = $4, by_agent = $5";
    let set = set(job_id, JobStatus::Refunded, columns).bind((event.time_s, event.tx));
    change(tx, job_id, set.bind(by_agent)).await
}

pub async fn resolve(tx: &Tx, event: &ChainEvent<JobResolved>) -> Result<Option<JobFacts>, HostError> {
    let JobResolved { job_id, client_amount, agent_payout, fee } = event.args;
    let columns = ", closed_at = $3, tx_closed = $4, client_amount = $5, agent_payout = $6, fee = $7";
    let set = set(job_id, JobStatus::Resolved, columns).bind((event.time_s, event.tx));
    change(tx, job_id, set.bind((client_amount, agent_payout, fee))).await
}
