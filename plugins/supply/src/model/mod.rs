//! What snapshots are made of. Nothing here reads the chain, the clock or the database.

mod amount;
mod coin;
mod fee_history;
mod header;
mod issuance;
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
pub use market::MarketReading;
pub use named_network::{named_excluded, named_issuance};
pub use plan::{Category, ExcludedAddress, Plan};
pub use position::Position;
pub use snapshot::{HeldBalance, Reading, Snapshot, SnapshotError};
pub use venue::Market;
