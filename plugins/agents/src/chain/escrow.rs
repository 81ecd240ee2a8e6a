//! Events of the escrow: jobs from request to settlement. Each one is published as `job.…`.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use super::tables::TABLES;
use crate::{
    Agents, model,
    store::derived::{self, records::Settlement},
};
use plugin_api::{
    Definition, Hash256, HostError, JobId, PluginContext, Tx,
    contracts::{
        ChainEvent, ContractEvent,
        escrow::{CONTRACT as ESCROW, JobCompleted, JobRequested, JobResolved},
    },
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
    let job = derived::jobs::request(&tx, &event).await?;
    model::job_event("job.requested", &job, Some(job.client), &event).publish(&tx)
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
    let Some(job) = derived::jobs::deliver(&tx, &event).await? else { return Ok(()) };
    model::job_event("job.delivered", &job, job.owner, &event).publish(&tx)
}

/// The client is the actor also when the agent claimed the payment.
async fn completed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobCompleted>) -> Result<(), HostError> {
    let Some(mut job) = derived::jobs::complete(&tx, &event).await? else { return Ok(()) };
    let JobCompleted { agent_payout, fee, rating, .. } = event.args;
    derived::totals::count_settled(&tx, &job, Settlement { agent_payout, fee, rating }).await?;
    job.rating = Some(rating).filter(|rating| *rating > 0);
    model::job_event("job.completed", &job, Some(job.client), &event).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ESCROW, "JobRefunded(uint256 indexed jobId, uint256 amount, bool byAgent)")]
pub struct JobRefunded {
    pub job_id: JobId,
    pub by_agent: bool,
}

async fn refunded(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobRefunded>) -> Result<(), HostError> {
    let Some(mut job) = derived::jobs::refund(&tx, &event).await? else { return Ok(()) };
    job.by_agent = Some(event.args.by_agent);
    let actor = if event.args.by_agent { job.owner } else { Some(job.client) };
    model::job_event("job.refunded", &job, actor, &event).publish(&tx)
}

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event(ESCROW, "JobDisputed(uint256 indexed jobId)")]
struct JobDisputed {
    job_id: JobId,
}

async fn disputed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobDisputed>) -> Result<(), HostError> {
    let Some(job) = derived::jobs::dispute(&tx, event.args.job_id).await? else { return Ok(()) };
    model::job_event("job.disputed", &job, Some(job.client), &event).publish(&tx)
}

async fn resolved(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<JobResolved>) -> Result<(), HostError> {
    let Some(job) = derived::jobs::resolve(&tx, &event).await? else { return Ok(()) };
    let JobResolved { agent_payout, fee, .. } = event.args;
    derived::totals::count_settled(&tx, &job, Settlement { agent_payout, fee, rating: 0 }).await?;
    model::job_event("job.resolved", &job, None, &event).publish(&tx)
}
