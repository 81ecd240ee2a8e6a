//! The plugin in a real gateway, on each database, in front of scripted servers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod call_rpc;
mod contributions;
mod fixture;
mod servers;
mod transactions;
