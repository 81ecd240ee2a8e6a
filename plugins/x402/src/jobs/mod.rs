//! One file per job.

pub mod close;
pub mod follow;
pub mod settle;

mod batch;
mod wake;

pub use wake::SettleWake;
