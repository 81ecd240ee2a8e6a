//! Chain events: which challenge the input of an escrow job cites.

use crate::{
    Arena,
    model::cited_challenge,
    store::links::{self, Link},
};
use plugin_api::{ChainEvent, Definition, HostError, PluginContext, Tx, contracts::escrow::JobRequested};

const TABLES: [&str; 1] = ["arena_links"];

pub fn subscribe(definition: Definition<Arena>) -> Definition<Arena> {
    definition.on_contract_event(&TABLES, requested)
}

async fn requested(_: PluginContext<Arena>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let JobRequested { job_id, agent_id, client, input_uri, .. } = event.args;
    let Some(challenge) = cited_challenge(&input_uri) else { return Ok(()) };
    links::insert(&tx, Link { job_id, challenge, client, agent_id, requested_at: event.time_s })
}
