//! Types and rules of bounties and claims, without a database: checks, events, response types.

mod event;
mod submission;
mod view;

pub use event::{Awarded, BountyCreated, Claimed, Completed, Previous, Reopened};
pub use submission::{Award, NewBounty, NewClaim};
pub use view::{AgentRef, BountyDetail, BountyState, BountyText, BountyView, ClaimView, DetailState, Status};

plugin_api::record_id! {
    /// A bounty.
    BountyId, "bounty";
    /// An agent's claim of a bounty.
    ClaimId, "claim";
}
