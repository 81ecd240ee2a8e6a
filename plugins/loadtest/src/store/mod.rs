//! The SQL, by what it is about.

pub mod blocks;
pub mod counts;
pub mod runner;
pub mod sinks;
pub mod transactions;
pub mod wallets;
pub mod waves;

use plugin_api::{HostError, HostErrorCode};

/// Fails when a row was not changed that was to be: somebody else was faster.
fn taken(changed: u64) -> Result<(), HostError> {
    if changed == 1 {
        return Ok(());
    }
    Err(HostError::new(HostErrorCode::Constraint, "another gateway or an operator was faster"))
}
