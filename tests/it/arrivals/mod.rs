//! Faucet and relay as a whole: a real chain, and gateways with the plugins' libraries on each database.
//!
//! `cargo xtask test` installs what the dev network needs. Each test has a chain of its own.

mod kills;
mod lobby;

use lobby::Lobby;

/// In wei.
const FMX: u128 = 1_000_000_000_000_000_000;
