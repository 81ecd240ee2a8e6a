//! One file per route, named after its operation.

pub mod award_challenge;
pub mod create_challenge;
pub mod create_submission;
pub mod get_challenge;
pub mod list_challenges;
pub mod vote_submission;
