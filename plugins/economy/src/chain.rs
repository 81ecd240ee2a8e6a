//! Handlers of chain events. The rule: a row follows from events alone, and no event makes a handler fail, because the index
//! would retry it forever.

use crate::{
    Economy,
    model::{
        CaseEvent, LaunchEvent, PlacedEvent, StreamCancellation, SubscriptionEvent,
        contracts::{
            AccountCreated, Bought, CaseClosed, CaseOpened, Distributed, EvidenceSubmitted, Launched, PlanCreated,
            Sold, StreamCancelled, StreamClaimed, StreamOpened, Subscribed,
        },
    },
    store::{
        accounts, block, directory, disputes, plans, streams, subs,
        tokens::{self, Trade},
    },
};
use plugin_api::{
    Definition, Event, EventBuilder, HostError, PluginContext, Sql, Tx,
    contracts::{ChainEvent, ContractEvent},
};
use std::future::{Ready, ready};

pub const EVENT_TYPES: [&str; 8] = [
    AccountCreated::TYPE,
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
        .on_contract_event(&[directory::AGENTS_TABLE], derive(directory::insert_agent))
        .on_contract_event(&[directory::AGENTS_TABLE], derive(directory::set_owner))
        .on_contract_event(&[directory::JOBS_TABLE], derive(directory::insert_job))
        .on_contract_event(&[streams::TABLE], derive_and_publish(streams::insert))
        .on_contract_event(&[streams::TABLE], derive(streams::set_deposit))
        .on_contract_event(&[streams::TABLE], stream_claimed)
        .on_contract_event(&[streams::TABLE], stream_cancelled)
        .on_contract_event(&[plans::TABLE], derive_and_publish(plans::insert))
        .on_contract_event(&[plans::TABLE], derive(plans::set_active))
        .on_contract_event(&[subs::TABLE], subscribed)
        .on_contract_event(&[subs::TABLE], derive(subs::set_paid_through))
        .on_contract_event(&[subs::TABLE], derive(subs::cancel))
        .on_contract_event(&[disputes::TABLE], case_opened)
        .on_contract_event(&[disputes::TABLE, disputes::EVIDENCE_TABLE], evidence_submitted)
        .on_contract_event(&[disputes::TABLE], derive(disputes::count_vote))
        .on_contract_event(&[disputes::TABLE], derive_and_publish(disputes::close))
        .on_contract_event(&[tokens::TABLE], launched)
        .on_contract_event(&[tokens::TABLE], bought)
        .on_contract_event(&[tokens::TABLE], sold)
        .on_contract_event(&[tokens::TABLE], distributed)
        .on_contract_event(&[accounts::TABLE], derive_and_publish(accounts::insert))
}

type Cx = PluginContext<Economy>;

/// A handler that runs one statement.
fn derive<E: ContractEvent>(
    statement: fn(&ChainEvent<E>) -> Sql,
) -> impl Fn(Cx, Tx, ChainEvent<E>) -> Ready<Result<(), HostError>> {
    move |_, tx, event| ready(tx.defer(statement(&event)))
}

/// A handler that runs one statement and publishes the arguments of the event.
fn derive_and_publish<E: ContractEvent + Event>(
    statement: fn(&ChainEvent<E>) -> Sql,
) -> impl Fn(Cx, Tx, ChainEvent<E>) -> Ready<Result<(), HostError>> {
    move |_, tx, event| ready(tx.defer(statement(&event)).and_then(|()| publish(&tx, &event, &event.args)))
}

/// Publishes an event to the activity log with the block's time and the position on the chain.
fn publish<Args>(tx: &Tx, on_chain: &ChainEvent<Args>, event_data: &impl Event) -> Result<(), HostError> {
    let ChainEvent { contract, event, log, .. } = on_chain;
    EventBuilder::of(&PlacedEvent { event_data, tx: log.tx, block: log.block, contract, event })
        .at(log.time_s)
        .publish(tx)
}

async fn stream_claimed(_: Cx, tx: Tx, event: ChainEvent<StreamClaimed>) -> Result<(), HostError> {
    let StreamClaimed { id, payee_amount, fee } = event.args;
    streams::claim(&tx, id, payee_amount.saturating_add(fee), false, block(&event)).await.map(drop)
}

async fn stream_cancelled(_: Cx, tx: Tx, event: ChainEvent<StreamCancelled>) -> Result<(), HostError> {
    let StreamCancelled { id, by, payee_amount, fee, refund } = event.args;
    let parties = streams::claim(&tx, id, payee_amount.saturating_add(fee), true, block(&event)).await?;
    let (payer, payee) = parties.unzip();
    let cancellation =
        StreamCancellation { stream_id: id, payer, payee, to_payee: payee_amount, to_payer: refund, fee, by };
    publish(&tx, &event, &cancellation)
}

async fn subscribed(_: Cx, tx: Tx, event: ChainEvent<Subscribed>) -> Result<(), HostError> {
    tx.defer(subs::insert(&event))?;
    let Subscribed { sub_id, plan_id, payer, periods, paid_through } = event.args;
    let payee = plans::payee(&tx, plan_id).await?;
    publish(&tx, &event, &SubscriptionEvent { sub_id, plan_id, payer, payee, periods, paid_through })
}

async fn case_opened(_: Cx, tx: Tx, event: ChainEvent<CaseOpened>) -> Result<(), HostError> {
    tx.defer(disputes::insert(&event))?;
    let job = directory::job(&tx, event.args.job_id).await?;
    publish(&tx, &event, &CaseEvent { case: &event.args, job })
}

async fn evidence_submitted(_: Cx, tx: Tx, event: ChainEvent<EvidenceSubmitted>) -> Result<(), HostError> {
    tx.defer(disputes::insert_evidence(&event))?;
    tx.defer(disputes::set_updated(&event))
}

async fn launched(_: Cx, tx: Tx, event: ChainEvent<Launched>) -> Result<(), HostError> {
    tx.defer(tokens::insert(&event))?;
    let Launched { agent_id, token, symbol } = &event.args;
    let (owner, agent_name) = directory::agent(&tx, *agent_id).await?.unzip();
    publish(&tx, &event, &LaunchEvent { token: *token, agent_id: *agent_id, agent_name, symbol, owner })
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
