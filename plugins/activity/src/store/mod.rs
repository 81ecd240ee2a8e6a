//! The log, which is the gateway's and read through its view, and the table of presence.

pub mod log;
pub mod presence;
