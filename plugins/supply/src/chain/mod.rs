//! What is read from the chain.

mod balances;
mod fees;
mod pools;
mod rpc;

pub use balances::read;
pub use fees::{ResumePosition, resume, step};
pub use pools::read as read_market;

use plugin_api::{HostError, HostErrorCode};

/// Blocks on top of the one that a snapshot is of.
pub const CONFIRMATIONS: u64 = 64;

/// For now there is no answer that can be relied on.
fn unavailable(reason: impl Into<String>) -> HostError {
    HostError::new(HostErrorCode::Unavailable, reason)
}
