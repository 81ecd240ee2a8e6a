//! Chain events: which bounty the input of an escrow job cites. The plugin agents indexes the job itself.

use crate::{
    Bounties,
    model::{JobId, cited_bounty},
    store::citations,
};
use plugin_api::{ChainEvent, Definition, HostError, PluginContext, Tx};
use serde::Deserialize;

const ESCROW: &str = "escrow";
const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, \
     uint256 amount, bytes32 inputHash, string inputURI)";
const TABLES: [&str; 1] = ["bounties_jobs"];

pub fn subscribe(definition: Definition<Bounties>) -> Definition<Bounties> {
    definition.on_chain_event(ESCROW, REQUESTED, &TABLES, requested)
}

#[derive(Deserialize)]
struct Requested {
    #[serde(rename = "jobId")]
    job_id: JobId,
    #[serde(rename = "inputURI")]
    input_uri: String,
}

async fn requested(_: PluginContext<Bounties>, tx: Tx, event: ChainEvent<Requested>) -> Result<(), HostError> {
    let Requested { job_id, input_uri } = event.args;
    citations::insert(&tx, job_id, cited_bounty(&input_uri))
}
