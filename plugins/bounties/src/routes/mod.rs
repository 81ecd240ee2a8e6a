//! One file per route, named after its operation.

pub mod award_bounty;
pub mod claim_bounty;
pub mod create_bounty;
pub mod get_bounty;
pub mod list_bounties;

mod render;
