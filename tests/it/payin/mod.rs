//! Pay-in on real chains: the main one, and chains of deposits behind two servers each. Public libraries send the deposits.
//!
//! `cargo xtask test` installs what the dev network and the clients need. Each test has chains of its own.

mod deposits;
mod kills;
mod named;
mod shop;

pub use shop::{Shop, chains, confirm};
