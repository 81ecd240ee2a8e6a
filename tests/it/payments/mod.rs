//! Payments as a whole: a real chain, gateways with the plugins' libraries on each database, agents that answer, real clients.
//!
//! `cargo xtask test` installs what the dev network and the clients need. Each test has a chain of its own.

mod agent0;
mod broken_promises;
mod clients;
mod contract_wallets;
mod hostile_agents;
mod hostile_answers;
mod kill;
mod kills;
mod market;
mod memory;
mod payment;
mod raw_agents;
mod reorganisation;
mod replicas;
mod round_trips;
mod settlement;
mod tck;
mod thousands;
mod till;
mod x402_types;

use market::{CONFIRMATIONS, Market, agent, wei};
use payment::{Payment, Voucher};
use till::{Till, until};

/// In wei.
const FMX: u128 = 1_000_000_000_000_000_000;
/// Of a call of every priced agent here.
const PRICE: u128 = FMX / 1000;
