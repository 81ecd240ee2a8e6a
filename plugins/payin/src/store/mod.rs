//! All SQL, a file per table.

pub mod addresses;
pub mod caps;
pub mod deposits;
pub mod history;
pub mod market;
pub mod pauses;
pub mod prices;
pub mod quotes;
pub mod scans;
