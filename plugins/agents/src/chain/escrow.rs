//! Events of the escrow: jobs from request to settlement. Each one is published as `job.…`.

use super::TABLES;
use crate::{
    Agents,
    model::{JobId, JobStatus, job_event},
    store::derived::{
        jobs::{self, JobEnd, Settlement},
        settlement,
    },
};
use plugin_api::{
    ChainEvent, Definition, Hash256, HostError, PluginContext, Tx, Wei,
    contracts::escrow::{CONTRACT as ESCROW, JobRequested},
};
use serde::Deserialize;

const DELIVERED: &str = "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)";
const COMPLETED: &str = "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)";
const REFUNDED: &str = "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)";
const DISPUTED: &str = "JobDisputed(uint256 indexed jobId)";
const RESOLVED: &str = "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)";

pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    definition
        .on_contract_event(&TABLES, requested)
        .on_chain_event(ESCROW, DELIVERED, &TABLES, delivered)
        .on_chain_event(ESCROW, COMPLETED, &TABLES, completed)
        .on_chain_event(ESCROW, REFUNDED, &TABLES, refunded)
        .on_chain_event(ESCROW, DISPUTED, &TABLES, disputed)
        .on_chain_event(ESCROW, RESOLVED, &TABLES, resolved)
}

async fn requested(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let job = jobs::request(&tx, &event).await?;
    job_event("job.requested", &job, Some(job.client), &event)?.publish(&tx)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivered {
    pub job_id: JobId,
    pub output_hash: Hash256,
    #[serde(rename = "outputURI")]
    pub output_uri: String,
}

async fn delivered(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Delivered>) -> Result<(), HostError> {
    let Some(job) = jobs::deliver(&tx, &event).await? else { return Ok(()) };
    job_event("job.delivered", &job, job.owner, &event)?.publish(&tx)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Completed {
    job_id: JobId,
    agent_payout: Wei,
    fee: Wei,
    rating: u8,
}

/// The client is the actor also when the agent claimed the payment.
async fn completed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Completed>) -> Result<(), HostError> {
    let Completed { job_id, agent_payout, fee, rating } = event.args;
    let closing = JobEnd {
        rating: Some(rating),
        settled: Some(Settlement { agent_payout, client_amount: None, fee }),
        ..JobEnd::new(JobStatus::Completed, event.time_s, event.tx)
    };
    let Some(mut job) = jobs::close(&tx, job_id, &closing).await? else { return Ok(()) };
    settlement::count(&tx, &job, fee).await?;
    job.rating = Some(rating).filter(|rating| *rating > 0);
    job_event("job.completed", &job, Some(job.client), &event)?.publish(&tx)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refunded {
    job_id: JobId,
    by_agent: bool,
}

async fn refunded(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Refunded>) -> Result<(), HostError> {
    let Refunded { job_id, by_agent } = event.args;
    let closing = JobEnd { by_agent: Some(by_agent), ..JobEnd::new(JobStatus::Refunded, event.time_s, event.tx) };
    let Some(mut job) = jobs::close(&tx, job_id, &closing).await? else { return Ok(()) };
    job.by_agent = Some(by_agent);
    let actor = if by_agent { job.owner } else { Some(job.client) };
    job_event("job.refunded", &job, actor, &event)?.publish(&tx)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Disputed {
    job_id: JobId,
}

async fn disputed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Disputed>) -> Result<(), HostError> {
    let Some(job) = jobs::dispute(&tx, event.args.job_id).await? else { return Ok(()) };
    job_event("job.disputed", &job, Some(job.client), &event)?.publish(&tx)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resolved {
    job_id: JobId,
    client_amount: Wei,
    agent_payout: Wei,
    fee: Wei,
}

async fn resolved(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Resolved>) -> Result<(), HostError> {
    let Resolved { job_id, client_amount, agent_payout, fee } = event.args;
    let closing = JobEnd {
        settled: Some(Settlement { agent_payout, client_amount: Some(client_amount), fee }),
        ..JobEnd::new(JobStatus::Resolved, event.time_s, event.tx)
    };
    let Some(job) = jobs::close(&tx, job_id, &closing).await? else { return Ok(()) };
    settlement::count(&tx, &job, fee).await?;
    job_event("job.resolved", &job, None, &event)?.publish(&tx)
}
