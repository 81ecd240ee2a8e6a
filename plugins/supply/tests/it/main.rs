//! The supply in a gateway, on each database, with a scripted chain: one file per subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod burned_fees;
mod fixture;
mod get_market;
mod get_numbers;
mod get_supply;
mod stale;
