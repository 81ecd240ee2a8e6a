//! The SQL, by what it is about.

pub mod blocks;
pub mod counts;
pub mod runner;
pub mod sinks;
pub mod transactions;
pub mod wallets;
pub mod waves;
