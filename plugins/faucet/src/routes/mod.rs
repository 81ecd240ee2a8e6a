//! The routes, a file for each.

pub mod get_faucet;
pub mod request_drip;
