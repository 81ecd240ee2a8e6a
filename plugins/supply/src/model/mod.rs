//! What snapshots are made of. Nothing here reads the chain, the clock or the database.

mod amount;
mod fee_history;
mod header;
mod issuance;
mod named_network;
mod plan;
mod position;
mod snapshot;

pub use amount::number;
pub use fee_history::FeeHistory;
pub use header::Header;
pub use issuance::Issuance;
pub use named_network::{NAMED_CHAIN, named_excluded, named_issuance};
pub use plan::{Category, Excluded, Plan};
pub use position::Position;
pub use snapshot::{HeldBalance, Reading, Snapshot, SnapshotError};
