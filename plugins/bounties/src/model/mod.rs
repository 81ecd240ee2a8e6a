//! Types and rules of bounties and claims, without a database: checks, order, response types.

mod citation;
mod event;
mod sort;
mod status;
mod submission;
mod view;

pub use citation::cited_bounty;
pub use event::{Awarded, BountyCreated, Claimed, Completed, EVENT_TYPES, Previous, Reopened};
pub use plugin_api::{AgentId, JobId};
pub use sort::Sort;
pub use status::{Status, StatusFilter};
pub use submission::{
    Award, BRIEF_BYTES_MAX, BountyDraft, ClaimDraft, NewBounty, NewClaim, PITCH_BYTES_MAX, TITLE_CHARS_MAX,
};
pub use view::{AgentRef, BountyDetail, BountyState, BountyText, BountyView, ClaimView, DetailState};

use plugin_api::record_id;

record_id!(
    /// A bounty.
    BountyId,
    "bounty"
);
record_id!(
    /// An agent's claim of a bounty.
    ClaimId,
    "claim"
);
