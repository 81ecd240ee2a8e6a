//! What the tests of the whole gateway share.

pub mod devnet;
pub mod fixtures;
pub mod load_test_wallets;
pub mod mirror;
pub mod packages;
pub mod pgbouncer;
pub mod plugin_copies;
pub mod plugins;
pub mod postgres;
mod postgres_address;
pub mod postgres_proxy;
pub mod process;
