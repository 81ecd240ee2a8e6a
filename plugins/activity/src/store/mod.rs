//! The gateway's activity log, read through its view, and the table of presence.

pub mod log;
pub mod presence;
