//! Events of AgentRegistry and ServiceEscrow that disputes and tokens need: owners and names of agents, agents and clients
//! of jobs. The plugin agents indexes the rest.

use crate::{
    Economy,
    deployment::{ESCROW, REGISTRY},
    store::directory,
};
use plugin_api::{Address, ChainEvent, Definition, HostError, PluginContext, Tx, chain_int};
use serde::Deserialize;

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, \
     string metadataURI, uint256 pricePerJob, uint256 bond)";
/// The registry's event has three indexed arguments, that of other contracts two.
const TRANSFERRED: &str = "OwnershipTransferred(uint256 indexed id, address indexed from, address indexed to)";
const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, \
     uint256 amount, bytes32 inputHash, string inputURI)";

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition
        .on_chain_event(REGISTRY, REGISTERED, &[directory::AGENTS_TABLE], registered)
        .on_chain_event(REGISTRY, TRANSFERRED, &[directory::AGENTS_TABLE], transferred)
        .on_chain_event(ESCROW, REQUESTED, &[directory::JOBS_TABLE], requested)
}

#[derive(Deserialize)]
struct Registered {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    owner: Address,
    name: String,
}

async fn registered(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Registered>) -> Result<(), HostError> {
    let Registered { id, owner, name } = event.args;
    directory::insert_agent(&tx, id, owner, &name)
}

#[derive(Deserialize)]
struct Transferred {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    to: Address,
}

async fn transferred(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Transferred>) -> Result<(), HostError> {
    directory::set_owner(&tx, event.args.id, event.args.to)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Requested {
    #[serde(deserialize_with = "chain_int")]
    job_id: i64,
    #[serde(deserialize_with = "chain_int")]
    agent_id: i64,
    client: Address,
}

async fn requested(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Requested>) -> Result<(), HostError> {
    let Requested { job_id, agent_id, client } = event.args;
    directory::insert_job(&tx, job_id, agent_id, client)
}
