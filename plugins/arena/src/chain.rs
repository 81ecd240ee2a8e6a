//! Chain events: which challenge the input of an escrow job cites.

use crate::{
    Arena,
    model::{AgentId, JobId, cited_challenge},
    store::links::{self, Link},
};
use plugin_api::{Address, ChainEvent, Definition, HostError, PluginContext, Tx};
use serde::Deserialize;

const ESCROW: &str = "escrow";
const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, \
     uint256 amount, bytes32 inputHash, string inputURI)";
const TABLES: [&str; 1] = ["arena_links"];

pub fn subscribe(definition: Definition<Arena>) -> Definition<Arena> {
    definition.on_chain_event(ESCROW, REQUESTED, &TABLES, requested)
}

#[derive(Deserialize)]
struct Requested {
    #[serde(rename = "jobId")]
    job_id: JobId,
    #[serde(rename = "agentId")]
    agent_id: AgentId,
    client: Address,
    #[serde(rename = "inputURI")]
    input_uri: String,
}

async fn requested(_: PluginContext<Arena>, tx: Tx, event: ChainEvent<Requested>) -> Result<(), HostError> {
    let Requested { job_id, agent_id, client, input_uri } = event.args;
    let Some(challenge) = cited_challenge(&input_uri) else { return Ok(()) };
    links::insert(&tx, Link { job_id, challenge, client, agent_id, requested_at: event.time_s })
}
