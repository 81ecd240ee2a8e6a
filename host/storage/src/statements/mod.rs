//! How long statements take and how much they may return, on both databases.

pub mod bounds;
mod decode_rows;
pub(crate) mod result_budget;
pub(crate) mod slow_lines;
pub(crate) mod slow_statement;
pub(crate) mod statement_latency;

pub use decode_rows::decode_rows;
