//! What the tests of the whole gateway share.

pub mod devnet;
pub mod fixtures;
pub mod mirror;
pub mod packages;
pub mod plugins;
pub mod postgres;
pub mod process;
