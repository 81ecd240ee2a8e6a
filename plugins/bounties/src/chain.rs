//! Chain events: which bounty the input of an escrow job cites. The plugin agents indexes the job itself.

use crate::{Bounties, model::cited_bounty, store::citations};
use plugin_api::{ChainEvent, HostError, PluginContext, Tx, contracts::escrow::JobRequested};

pub const TABLES: [&str; 1] = ["bounties_jobs"];

pub async fn job_requested(
    _: PluginContext<Bounties>,
    tx: Tx,
    event: ChainEvent<JobRequested>,
) -> Result<(), HostError> {
    citations::insert(&tx, event.args.job_id, cited_bounty(&event.args.input_uri))
}
