//! Chain events: which challenge the input of an escrow job cites.
//!
//! Not by `cx.write`: the index hands in its transaction, so that the rows of a block are committed with it and undone with it.

use crate::{Arena, model::ChallengeId, store::awards};
use plugin_api::{
    HostError, PluginContext, Tx,
    contracts::{ChainEvent, escrow::JobRequested},
};

pub const DERIVED_TABLES: [&str; 1] = ["arena_links"];

pub async fn job_requested(_: PluginContext<Arena>, tx: Tx, event: ChainEvent<JobRequested>) -> Result<(), HostError> {
    let Some(challenge) = event.args.cites("arena") else { return Ok(()) };
    awards::insert_link(&tx, ChallengeId(challenge), &event.args, event.time_s)
}
