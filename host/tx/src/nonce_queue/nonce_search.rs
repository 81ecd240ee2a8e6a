//! Where the transaction that used a lost nonce is searched for.

/// How much larger each range is than the one before.
const RANGE_GROWTH: u64 = 4;

/// A range of blocks that is scanned upwards. When the transaction is not in it, the next range starts further back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NonceSearch {
    pub first: u64,
    pub next: u64,
    /// The newest block when the loss was noticed, plus the depth of a reorganisation: the transaction is not above it.
    pub highest: u64,
}

impl NonceSearch {
    pub(crate) fn new(signed_at: u64, noticed_at: u64, reorg_depth: u64) -> Self {
        let first = signed_at.saturating_sub(reorg_depth);
        Self { first, next: first, highest: noticed_at.saturating_add(reorg_depth) }
    }

    pub(crate) fn extend_back(self) -> Self {
        let length = self.highest.saturating_sub(self.first).max(1);
        let first = self.first.saturating_sub(length.saturating_mul(RANGE_GROWTH));
        Self { first, next: first, ..self }
    }
}
