//! Scheduled jobs, one file or folder per job.

pub mod follow;
pub mod pay;
pub mod read_market;
pub mod read_prices;
mod row_errors;
pub mod scan;

pub use row_errors::{RowErrors, is_lasting, is_passing};
