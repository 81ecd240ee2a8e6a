//! One file per job.

pub mod forward_messages;
