//! Events of the agent registry: agents, their status, record and bond. Each one is published as `agent.registered` or
//! `agent.updated`.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use super::tables::TABLES;
use crate::{Agents, model, store::derived};
use plugin_api::{
    AgentId, Definition, HostError, PluginContext, Tx, Wei,
    contracts::{
        ChainEvent, ContractEvent,
        registry::{AgentRegistered, AgentUpdated, CONTRACT as REGISTRY, OwnershipTransferred},
    },
};
use serde::Deserialize;

pub fn subscribe(definition: Definition<Agents>) -> Definition<Agents> {
    definition
        .on_contract_event(&TABLES, registered)
        .on_contract_event(&TABLES, updated)
        .on_contract_event(&TABLES, status_changed)
        .on_contract_event(&TABLES, bond_changed)
        .on_contract_event(&TABLES, slashed)
        .on_contract_event(&TABLES, outcome_recorded)
        .on_contract_event(&TABLES, transferred)
}

/// An agent is active when it registers; the events that follow in the same transaction repeat status and bond.
async fn registered(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<AgentRegistered>) -> Result<(), HostError> {
    let args = event.args.clone();
    let agent = model::AgentRecord {
        id: args.id,
        owner: args.owner,
        name: args.name,
        endpoint: args.endpoint,
        metadata_uri: args.metadata_uri,
        price_per_job: args.price_per_job,
        bond: args.bond,
        status: model::AgentStatus::Active,
        registered_at: event.time_s,
        jobs_completed: 0,
        jobs_failed: 0,
        rating_count: 0,
        rating_sum: 0,
    };
    tx.defer(derived::agents::insert(&agent)?)?;
    tx.defer(derived::totals::count_agents(agent.status, 1))?;
    model::agent_event(&agent, &event).publish(&tx)
}

/// Publishes the change; does nothing for an agent that is not indexed.
fn publish_update<Args>(tx: &Tx, agent: Option<model::AgentRecord>, event: &ChainEvent<Args>) -> Result<(), HostError> {
    agent.map_or(Ok(()), |agent| model::agent_event(&agent, event).publish(tx))
}

async fn updated(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<AgentUpdated>) -> Result<(), HostError> {
    publish_update(&tx, derived::agents::update(&tx, &event.args).await?, &event)
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(REGISTRY, "AgentStatusChanged(uint256 indexed id, uint8 status)")]
struct StatusChanged {
    id: AgentId,
    status: u8,
}

async fn status_changed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<StatusChanged>) -> Result<(), HostError> {
    let StatusChanged { id, status } = event.args;
    let status = model::AgentStatus::from_chain(status);
    let Some((before, agent)) = derived::agents::set_status(&tx, id, status).await? else { return Ok(()) };
    if before != status {
        tx.defer(derived::totals::count_agents(before, -1))?;
        tx.defer(derived::totals::count_agents(status, 1))?;
    }
    publish_update(&tx, Some(agent), &event)
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(REGISTRY, "BondChanged(uint256 indexed id, uint256 bond)")]
struct BondChanged {
    id: AgentId,
    bond: Wei,
}

async fn bond_changed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<BondChanged>) -> Result<(), HostError> {
    publish_update(&tx, derived::agents::set_bond(&tx, event.args.id, event.args.bond).await?, &event)
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(REGISTRY, "AgentSlashed(uint256 indexed id, uint256 amount, address to, string reason)")]
struct Slashed {
    id: AgentId,
}

/// A later event of the same transaction carries the remaining bond.
async fn slashed(_: PluginContext<Agents>, tx: Tx, event: ChainEvent<Slashed>) -> Result<(), HostError> {
    publish_update(&tx, derived::agents::find(&tx, event.args.id).await?, &event)
}

#[derive(Deserialize, ContractEvent)]
#[contract_event(REGISTRY, "OutcomeRecorded(uint256 indexed id, bool success, uint8 rating)")]
struct OutcomeRecorded {
    id: AgentId,
    success: bool,
    rating: u8,
}

/// Follows the escrow's own event in the same transaction.
async fn outcome_recorded(
    _: PluginContext<Agents>,
    tx: Tx,
    event: ChainEvent<OutcomeRecorded>,
) -> Result<(), HostError> {
    let OutcomeRecorded { id, success, rating } = event.args;
    let Some((mut standing, mut agent)) = derived::agents::standing(&tx, id).await? else { return Ok(()) };
    standing.rate(rating);
    agent.count(success, &standing);
    tx.defer(derived::agents::set_outcome(&agent, &standing)?)?;
    publish_update(&tx, Some(agent), &event)
}

async fn transferred(
    _: PluginContext<Agents>,
    tx: Tx,
    event: ChainEvent<OwnershipTransferred>,
) -> Result<(), HostError> {
    publish_update(&tx, derived::agents::set_owner(&tx, event.args.id, event.args.to).await?, &event)
}
