//! Blocks that move while they are read.

use crate::model::TakenChain;
use plugin_api::{HostError, HostErrorCode};

/// The error when blocks move while they are read: the next run reads them again.
pub fn moved(chain: &TakenChain) -> HostError {
    let message = format!("the blocks of {} changed while they were read", chain.slug);
    HostError::new(HostErrorCode::Unavailable, message)
}
