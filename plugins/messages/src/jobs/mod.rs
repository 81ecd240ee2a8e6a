//! One file per job.

pub mod forward_messages;
pub mod host_shares;
