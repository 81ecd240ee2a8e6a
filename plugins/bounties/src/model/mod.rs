//! Types and rules of bounties and claims, without a database: checks, events, response types.

mod event;
mod submission;
mod view;

pub use event::{Awarded, BountyCreated, Claimed, Completed, Previous, Reopened};
pub use submission::{Award, BRIEF_BYTES_MAX, NewBounty, NewClaim, PITCH_BYTES_MAX, TITLE_CHARS_MAX};
pub use view::{AgentRef, BountyDetail, BountyState, BountyText, BountyView, ClaimView, DetailState, Status};

plugin_api::record_id! {
    /// A bounty.
    BountyId, "bounty";
    /// An agent's claim of a bounty.
    ClaimId, "claim";
}
