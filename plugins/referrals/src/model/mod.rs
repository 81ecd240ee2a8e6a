//! Payloads, answers and events of referrals, and the sums of the leaderboard.

mod claim;
mod event;
mod tally;
mod view;

pub use claim::{Claim, Eligible, NewReferral, Release, Side};
pub use event::{ReferralClaimed, ReferralPaid};
pub use tally::{ReferrerView, Tally, Totals, rank};
pub use view::ReferralView;

/// Role of the key that pays.
pub const ROLE: &str = "growth";
