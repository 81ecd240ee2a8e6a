//! Events of AgentRegistry and ServiceEscrow that disputes and tokens need: owners and names of agents, agents and clients
//! of jobs. The plugin agents indexes the rest.

use crate::{
    Economy,
    store::directory::{self, AGENTS_TABLE, JOBS_TABLE},
};
use plugin_api::{
    ChainEvent, Definition, HostError, PluginContext, Tx,
    contracts::{
        escrow::JobRequested,
        registry::{AgentRegistered, OwnershipTransferred},
    },
};

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition
        .on_contract_event(&[AGENTS_TABLE], registered)
        .on_contract_event(&[AGENTS_TABLE], transferred)
        .on_contract_event(&[JOBS_TABLE], requested)
}

async fn registered(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<AgentRegistered>) -> Result<(), HostError> {
    let AgentRegistered { id, owner, name, .. } = event.args;
    directory::insert_agent(&tx, id, owner, &name)
}

async fn transferred(
    _: PluginContext<Economy>,
    tx: Tx,
    event: ChainEvent<OwnershipTransferred>,
) -> Result<(), HostError> {
    directory::set_owner(&tx, event.args.id, event.args.to)
}

async fn requested(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let JobRequested { job_id, agent_id, client, .. } = event.args;
    directory::insert_job(&tx, job_id, agent_id, client)
}
