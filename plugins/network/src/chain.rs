//! Handlers of chain events. The rule: rows follow from events alone, all in one index, so that nobody is seen without the account that
//! he acts through; and no event makes a handler fail, because the index would retry it forever.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{
    Network,
    model::{Kind, Parties, Settlement},
    store::derived::{accounts, agents, jobs, pairs},
};
use plugin_api::{
    AgentId, Definition, HostError, JobId, PluginContext, Tx,
    contracts::{
        ChainEvent,
        account_factory::AccountCreated,
        escrow::{JobCompleted, JobResolved},
        x402_vault::Settled,
    },
};

pub fn subscribe(definition: Definition<Network>) -> Definition<Network> {
    definition
        .derive_row(agents::TABLE, agents::insert)
        .derive_row(agents::TABLE, agents::set_owner)
        .derive_row(agents::TABLE, agents::set_price)
        .derive_row(jobs::TABLE, jobs::insert)
        .on_contract_event(&[jobs::TABLE, pairs::TABLE], completed)
        .on_contract_event(&[jobs::TABLE, pairs::TABLE], resolved)
        .on_contract_event(&[pairs::TABLE], settled)
        .on_contract_event(&[accounts::TABLE, agents::TABLE, pairs::TABLE], created)
}

type Cx = PluginContext<Network>;

async fn completed(_: Cx, tx: Tx, event: ChainEvent<JobCompleted>) -> Result<(), HostError> {
    let JobCompleted { job_id, rating, .. } = event.args;
    count_job(&tx, job_id, Some(rating).filter(|rating| *rating > 0), event.time_s).await
}

async fn resolved(_: Cx, tx: Tx, event: ChainEvent<JobResolved>) -> Result<(), HostError> {
    count_job(&tx, event.args.job_id, None, event.time_s).await
}

async fn count_job(tx: &Tx, job_id: JobId, rating: Option<u8>, at_s: i64) -> Result<(), HostError> {
    let Some(job) = jobs::take(tx, job_id).await? else { return Ok(()) };
    let parties = Parties { kind: Kind::Hire, client: job.client, agent_id: job.agent_id, payee: None };
    pairs::add(tx, &parties, Settlement { amount: job.amount, rating, job: Some(job_id), at_s }).await
}

async fn settled(_: Cx, tx: Tx, event: ChainEvent<Settled>) -> Result<(), HostError> {
    let Settled { payer, payee, amount, .. } = event.args;
    let parties = Parties { kind: Kind::X402, client: payer, agent_id: AgentId(0), payee: Some(payee) };
    pairs::add(&tx, &parties, Settlement { amount, rating: None, job: None, at_s: event.time_s }).await
}

async fn created(_: Cx, tx: Tx, event: ChainEvent<AccountCreated>) -> Result<(), HostError> {
    let AccountCreated { owner, account } = event.args;
    let Some(owner) = accounts::insert(&tx, account, owner).await? else { return Ok(()) };
    tx.defer(agents::fold(account, owner))?;
    pairs::fold(&tx, account, owner).await
}
