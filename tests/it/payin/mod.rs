//! Pay-in on real chains: the main one, and chains of deposits behind two servers each. Public libraries send the deposits. Kills have
//! chains that the test plays.
//!
//! `cargo xtask test` installs what the dev network and the clients need. Each test has chains of its own.

mod deposits;
mod kills;
mod named;
mod scripted_shop;
mod shop;

pub use scripted_shop::ScriptedDeposits;
pub use shop::{Shop, hasten};
