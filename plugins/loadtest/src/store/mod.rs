//! The SQL, by what it is about.

pub mod blocks;
pub mod counts;
pub mod wallets;
