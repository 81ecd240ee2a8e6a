//! The supply in a gateway, on each database, with a scripted chain: one file per subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod burned_fees;
mod fixture;
mod get_circulating_supply;
mod get_market_chart;
mod get_market_coin;
mod get_max_supply;
mod get_supply;
mod get_total_supply;
mod stale;
