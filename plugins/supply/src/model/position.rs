//! How far base fees are counted.

use alloy_primitives::B256;
use plugin_api::Wei;

/// What all blocks up to and with this one burned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub block: u64,
    pub hash: B256,
    pub burned: Wei,
}
