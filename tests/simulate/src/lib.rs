//! A seeded simulation of whole gateways. README.md says what is simulated, what is checked and what is missing.
//!
//! The rule that must not break: **the same seed plays the same run**, so that a failure can be played again. Whatever a run depends on
//! comes from its seed: see [`machine`].
#![cfg(feature = "simulation")]

mod account;
mod buyer;
mod caller;
mod chain_actor;
mod client;
mod configuration;
mod database;
mod database_actor;
mod deposit_chain;
pub mod dice;
mod drip_client;
mod fault;
mod ledger;
mod log_reader;
pub mod machine;
mod newcomer;
mod order_book;
mod order_client;
mod pause_actor;
mod payout_watcher;
mod purchases;
mod referral_book;
mod replica;
mod run;
mod shifts_plugin;
mod shop_plugin;
mod site;
mod sponsored;
mod stored;
mod thread_reader;
mod trace;
mod typed_data;
mod vault;
mod voucher;
mod voucher_book;
mod voucher_client;
mod writer;

pub use fault::Fault;
pub use run::{Report, Settings, run};
