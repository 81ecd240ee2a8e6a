//! One file per route, named after its operation.

pub mod count_waitlist;
pub mod export_waitlist;
pub mod get_waitlist_challenge;
pub mod join_waitlist;

mod csv;
mod totals;
