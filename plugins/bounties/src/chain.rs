//! Chain events: which bounty the input of an escrow job cites. The plugin agents indexes the job itself.

use crate::{Bounties, model::cited_bounty, store::citations};
use plugin_api::{ChainEvent, Definition, HostError, PluginContext, Tx, contracts::escrow::JobRequested};

const TABLES: [&str; 1] = ["bounties_jobs"];

pub fn subscribe(definition: Definition<Bounties>) -> Definition<Bounties> {
    definition.on_contract_event(&TABLES, requested)
}

async fn requested(_: PluginContext<Bounties>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let JobRequested { job_id, input_uri, .. } = event.args;
    citations::insert(&tx, job_id, cited_bounty(&input_uri))
}
