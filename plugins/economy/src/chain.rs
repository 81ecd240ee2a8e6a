//! Handlers of chain events. The rule: a row follows from events alone, and no event makes a handler fail, because the index
//! would retry it forever.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{
    Economy,
    model::{
        AccountEvent, CaseEvent, LaunchEvent, StreamCancellation, SubscriptionEvent,
        contracts::{
            Bought, CaseClosed, CaseOpened, Distributed, EvidenceSubmitted, Launched, PlanCreated, Sold,
            StreamCancelled, StreamClaimed, StreamOpened, Subscribed,
        },
    },
    store::{
        accounts, directory, disputes, plans, streams, subs,
        tokens::{self, Trade},
    },
};
use plugin_api::{
    Definition, Event, HostError, PluginContext, Sql, Tx,
    contracts::{ChainEvent, ContractEvent, account_factory::AccountCreated},
};
use std::future::{Ready, ready};

pub const EVENT_TYPES: [&str; 8] = [
    AccountEvent::TYPE,
    StreamOpened::TYPE,
    StreamCancellation::TYPE,
    PlanCreated::TYPE,
    SubscriptionEvent::TYPE,
    CaseEvent::TYPE,
    CaseClosed::TYPE,
    LaunchEvent::TYPE,
];

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition
        .derive_agents(directory::AGENTS_TABLE)
        .derive_row(directory::JOBS_TABLE, directory::insert_job)
        .on_contract_event(&[streams::TABLE], derive_and_publish(streams::insert))
        .derive_row(streams::TABLE, streams::set_deposit)
        .on_contract_event(&[streams::TABLE], stream_claimed)
        .on_contract_event(&[streams::TABLE], stream_cancelled)
        .on_contract_event(&[plans::TABLE], derive_and_publish(plans::insert))
        .derive_row(plans::TABLE, plans::set_active)
        .on_contract_event(&[subs::TABLE], subscribed)
        .derive_row(subs::TABLE, subs::set_paid_through)
        .derive_row(subs::TABLE, subs::cancel)
        .on_contract_event(&[disputes::TABLE], case_opened)
        .on_contract_event(&[disputes::TABLE, disputes::EVIDENCE_TABLE], evidence_submitted)
        .derive_row(disputes::TABLE, disputes::count_vote)
        .on_contract_event(&[disputes::TABLE], derive_and_publish(disputes::close))
        .on_contract_event(&[tokens::TABLE], launched)
        .on_contract_event(&[tokens::TABLE], bought)
        .on_contract_event(&[tokens::TABLE], sold)
        .on_contract_event(&[tokens::TABLE], distributed)
        .on_contract_event(&[accounts::TABLE], account_created)
}

type Cx = PluginContext<Economy>;

/// A handler that runs one statement and publishes the arguments of the event.
fn derive_and_publish<E: ContractEvent + Event>(
    statement: fn(&ChainEvent<E>) -> Sql,
) -> impl Fn(Cx, Tx, ChainEvent<E>) -> Ready<Result<(), HostError>> {
    move |_, tx, event| ready(tx.defer(statement(&event)).and_then(|()| event.publish(&tx, &event.args)))
}

async fn stream_claimed(_: Cx, tx: Tx, event: ChainEvent<StreamClaimed>) -> Result<(), HostError> {
    let StreamClaimed { id, payee_amount, fee } = event.args;
    streams::claim(&tx, id, payee_amount.saturating_add(fee), false, event.block).await.map(drop)
}

async fn stream_cancelled(_: Cx, tx: Tx, event: ChainEvent<StreamCancelled>) -> Result<(), HostError> {
    let StreamCancelled { id, by, payee_amount, fee, refund } = event.args;
    let parties = streams::claim(&tx, id, payee_amount.saturating_add(fee), true, event.block).await?;
    let (payer, payee) = parties.unzip();
    let cancellation =
        StreamCancellation { stream_id: id, payer, payee, to_payee: payee_amount, to_payer: refund, fee, by };
    event.publish(&tx, &cancellation)
}

async fn subscribed(_: Cx, tx: Tx, event: ChainEvent<Subscribed>) -> Result<(), HostError> {
    tx.defer(subs::insert(&event))?;
    let Subscribed { sub_id, plan_id, payer, periods, paid_through } = event.args;
    let payee = plans::payee(&tx, plan_id).await?;
    event.publish(&tx, &SubscriptionEvent { sub_id, plan_id, payer, payee, periods, paid_through })
}

async fn case_opened(_: Cx, tx: Tx, event: ChainEvent<CaseOpened>) -> Result<(), HostError> {
    tx.defer(disputes::insert(&event))?;
    let job = directory::job(&tx, event.args.job_id).await?;
    event.publish(&tx, &CaseEvent { case: &event.args, job })
}

async fn evidence_submitted(_: Cx, tx: Tx, event: ChainEvent<EvidenceSubmitted>) -> Result<(), HostError> {
    tx.defer(disputes::insert_evidence(&event))?;
    tx.defer(disputes::set_updated(&event))
}

async fn launched(_: Cx, tx: Tx, event: ChainEvent<Launched>) -> Result<(), HostError> {
    tx.defer(tokens::insert(&event))?;
    let Launched { agent_id, token, symbol } = &event.args;
    let (owner, agent_name) = directory::agent(&tx, *agent_id).await?.unzip();
    event.publish(&tx, &LaunchEvent { token: *token, agent_id: *agent_id, agent_name, symbol, owner })
}

async fn bought(_: Cx, tx: Tx, event: ChainEvent<Bought>) -> Result<(), HostError> {
    let Bought { token, fmx_in } = event.args;
    tokens::add_trade(&tx, token, Trade { buys: 1, fmx_in, ..Trade::default() }).await
}

async fn sold(_: Cx, tx: Tx, event: ChainEvent<Sold>) -> Result<(), HostError> {
    let Sold { token, fmx_out } = event.args;
    tokens::add_trade(&tx, token, Trade { sells: 1, fmx_out, ..Trade::default() }).await
}

async fn distributed(_: Cx, tx: Tx, event: ChainEvent<Distributed>) -> Result<(), HostError> {
    let Distributed { token, amount } = event.args;
    tokens::add_trade(&tx, token, Trade { distributed: amount, ..Trade::default() }).await
}

async fn account_created(_: Cx, tx: Tx, event: ChainEvent<AccountCreated>) -> Result<(), HostError> {
    tx.defer(accounts::insert(&event))?;
    let AccountCreated { owner, account } = event.args;
    event.publish(&tx, &AccountEvent { owner, account })
}
