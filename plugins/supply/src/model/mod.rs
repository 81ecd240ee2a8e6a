//! What snapshots are made of. Nothing here reads the chain, the clock or the database.

mod amount;
mod coin;
mod fee_history;
mod header;
mod issuance;
mod json_number;
mod market;
mod named_network;
mod plan;
mod position;
mod snapshot;
mod venue;

pub use amount::number;
pub use coin::{Coin, Listing};
pub use fee_history::FeeHistory;
pub use header::Header;
pub use issuance::Issuance;
pub use json_number::JsonNumber;
pub use market::{MarketReading, PoolPrice, QuoteToken, Reserves, Venue};
pub use named_network::{NAMED_CHAIN, named_excluded, named_issuance, named_venue};
pub use plan::{Category, Excluded, Plan};
pub use position::Position;
pub use snapshot::{HeldBalance, Reading, Snapshot, SnapshotError};
pub use venue::Market;
