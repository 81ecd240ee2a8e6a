//! The plugin's tables, what it reads in views of others, and its sealed secrets.

pub mod attempts;
pub mod audit;
pub mod deliveries;
pub mod endpoints;
pub mod fanout;
pub mod limits;
pub mod lookups;
pub mod queue;
pub mod replays;
pub mod sealed;
