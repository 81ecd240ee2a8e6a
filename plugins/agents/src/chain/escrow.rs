//! Events of the escrow: jobs from request to settlement. Each one is published as `job.…`.

use super::TABLES;
use crate::{
    Agents,
    model::{JobStatus, job_event},
    store::derived::{
        jobs::{self, JobEnd},
        totals,
    },
};
use plugin_api::{
    ChainEvent, ContractEvent, Definition, Hash256, HostError, JobId, PluginContext, Tx, Wei,
    contracts::escrow::{CONTRACT as ESCROW, JobRequested},
};
use serde::Deserialize;

pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    definition
        .on_contract_event(&TABLES, requested)
        .on_contract_event(&TABLES, delivered)
        .on_contract_event(&TABLES, completed)
        .on_contract_event(&TABLES, refunded)
        .on_contract_event(&TABLES, disputed)
        .on_contract_event(&TABLES, resolved)
}

async fn requested(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let job = jobs::request(&tx, &event).await?;
    job_event("job.requested", &job, Some(job.client), &event).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ESCROW, "JobDelivered(uint256 indexed jobId, bytes32 outputHash, string outputURI)")]
pub struct JobDelivered {
    pub job_id: JobId,
    pub output_hash: Hash256,
    #[serde(rename = "outputURI")]
    pub output_uri: String,
}

async fn delivered(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobDelivered>) -> Result<(), HostError> {
    let Some(job) = jobs::deliver(&tx, &event).await? else { return Ok(()) };
    job_event("job.delivered", &job, job.owner, &event).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ESCROW, "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)")]
struct JobCompleted {
    job_id: JobId,
    agent_payout: Wei,
    fee: Wei,
    rating: u8,
}

/// The client is the actor also when the agent claimed the payment.
async fn completed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobCompleted>) -> Result<(), HostError> {
    let JobCompleted { job_id, agent_payout, fee, rating } = event.args;
    let end = JobEnd {
        rating: Some(rating),
        agent_payout: Some(agent_payout),
        fee: Some(fee),
        ..JobEnd::new(JobStatus::Completed, &event)
    };
    let Some(mut job) = jobs::close(&tx, job_id, &end).await? else { return Ok(()) };
    totals::count_settled(&tx, &job, fee).await?;
    job.rating = Some(rating).filter(|rating| *rating > 0);
    job_event("job.completed", &job, Some(job.client), &event).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ESCROW, "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)")]
struct JobRefunded {
    job_id: JobId,
    by_agent: bool,
}

async fn refunded(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobRefunded>) -> Result<(), HostError> {
    let JobRefunded { job_id, by_agent } = event.args;
    let end = JobEnd { by_agent: Some(by_agent), ..JobEnd::new(JobStatus::Refunded, &event) };
    let Some(mut job) = jobs::close(&tx, job_id, &end).await? else { return Ok(()) };
    job.by_agent = Some(by_agent);
    let actor = if by_agent { job.owner } else { Some(job.client) };
    job_event("job.refunded", &job, actor, &event).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ESCROW, "JobDisputed(uint256 indexed jobId)")]
struct JobDisputed {
    job_id: JobId,
}

async fn disputed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobDisputed>) -> Result<(), HostError> {
    let Some(job) = jobs::dispute(&tx, event.args.job_id).await? else { return Ok(()) };
    job_event("job.disputed", &job, Some(job.client), &event).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ESCROW, "JobResolved(uint256 indexed jobId, uint256 clientAmount, uint256 agentPayout, uint256 fee)")]
struct JobResolved {
    job_id: JobId,
    client_amount: Wei,
    agent_payout: Wei,
    fee: Wei,
}

async fn resolved(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobResolved>) -> Result<(), HostError> {
    let JobResolved { job_id, client_amount, agent_payout, fee } = event.args;
    let end = JobEnd {
        agent_payout: Some(agent_payout),
        client_amount: Some(client_amount),
        fee: Some(fee),
        ..JobEnd::new(JobStatus::Resolved, &event)
    };
    let Some(job) = jobs::close(&tx, job_id, &end).await? else { return Ok(()) };
    totals::count_settled(&tx, &job, fee).await?;
    job_event("job.resolved", &job, None, &event).publish(&tx)
}
