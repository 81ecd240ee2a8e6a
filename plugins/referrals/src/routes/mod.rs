//! One file per route, named after its operation.

pub mod create_referral;
pub mod get_referral;
pub mod list_agent_referrals;
pub mod list_referrers;
pub mod release_referral;
