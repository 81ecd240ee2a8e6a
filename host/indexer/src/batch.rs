//! What one transaction of an index writes.

use super::{decode::DecodedEvent, store::Cursor};
use alloy_primitives::B256;

/// The events of consecutive blocks.
pub(crate) struct Batch {
    pub events: Vec<DecodedEvent>,
    /// The cursor after the batch.
    pub cursor: Cursor,
    /// Hashes of blocks by which a later reorganisation is detected.
    pub blocks: Vec<(u64, B256)>,
    /// Whether no reorganisation undoes these blocks: then no before-images are kept.
    pub is_final: bool,
}
