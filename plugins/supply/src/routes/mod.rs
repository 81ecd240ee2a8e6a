//! One file per route, named after its operation.

pub mod get_circulating_supply;
pub mod get_market_chart;
pub mod get_market_coin;
pub mod get_max_supply;
pub mod get_supply;
pub mod get_total_supply;

mod latest;
mod number;

pub use latest::is_fresh;
