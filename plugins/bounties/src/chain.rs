//! Chain events: which bounty the input of an escrow job cites. The plugin agents indexes the job itself.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{Bounties, model::BountyId, store::citations};
use plugin_api::{HostError, PluginContext, Tx, contracts};

pub const TABLES: [&str; 1] = ["bounties_jobs"];

pub async fn job_requested(
    _: PluginContext<Bounties>,
    tx: Tx,
    event: contracts::ChainEvent<contracts::escrow::JobRequested>,
) -> Result<(), HostError> {
    citations::insert(&tx, event.args.job_id, event.args.cites("bounty").map(BountyId))
}
