//! How many blocks one request of the backfill covers: more while they hold few events, fewer where servers reject the
//! size, and more again later.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Blocks of the first requests. Their number of events is unknown, and a response with the whole history leaves
/// nothing to fetch while it is written.
const FIRST_BLOCKS: u64 = 8;
/// A response with more events than this makes the next ranges shorter, one with fewer than a quarter longer.
const RANGE_EVENTS: u64 = 2_500;
/// Number of responses after a rejection before a longer range is tried again.
const GROWTH_PAUSE: u64 = 32;

pub(crate) struct AdaptiveRange {
    blocks: AtomicU64,
    blocks_max: u64,
    /// Responses left until the range may grow.
    growth_pause: AtomicU64,
}

impl AdaptiveRange {
    pub(crate) fn new(blocks_max: u64) -> Self {
        let blocks = AtomicU64::new(blocks_max.min(FIRST_BLOCKS));
        Self { blocks, blocks_max, growth_pause: AtomicU64::new(0) }
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.blocks.load(Relaxed)
    }

    /// Records a response for `blocks` with so many events.
    pub(crate) fn succeeded(&self, blocks: u64, events: u64) {
        let is_paused = self.growth_pause.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
        if events > RANGE_EVENTS {
            // The minimum: a response to an earlier, longer request must not undo a later reduction.
            self.blocks.fetch_min((blocks / 2).max(1), Relaxed);
        } else if events < RANGE_EVENTS / 4 && !is_paused {
            // Only where the request had the present length: one that began before a reduction must not undo it either.
            let longer = blocks.saturating_mul(2).min(self.blocks_max);
            let _ = self.blocks.compare_exchange(blocks, longer, Relaxed, Relaxed);
        }
    }

    /// Records that servers rejected a request for so many blocks.
    pub(crate) fn rejected(&self, blocks: u64) {
        self.blocks.fetch_min((blocks / 2).max(1), Relaxed);
        self.growth_pause.store(GROWTH_PAUSE, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_starts_short_and_grows_while_it_holds_few_events() {
        let range = AdaptiveRange::new(20);
        assert_eq!(range.blocks(), 8);
        range.succeeded(8, 10);
        assert_eq!(range.blocks(), 16);
        range.succeeded(8, 10);
        assert_eq!(range.blocks(), 16, "a response to an earlier, shorter request does not count");
        range.succeeded(16, 0);
        assert_eq!(range.blocks(), 20, "the configured maximum");
        assert_eq!(AdaptiveRange::new(3).blocks(), 3);
    }

    #[test]
    fn a_range_shrinks_when_it_holds_many_events_and_no_late_response_makes_it_longer() {
        let range = AdaptiveRange::new(2000);
        range.blocks.store(16, Relaxed);
        range.succeeded(16, RANGE_EVENTS + 1);
        range.succeeded(8, RANGE_EVENTS + 1);
        assert_eq!(range.blocks(), 4);
        range.succeeded(16, RANGE_EVENTS + 1);
        assert_eq!(range.blocks(), 4);
        range.succeeded(16, 0);
        assert_eq!(range.blocks(), 4, "its request began before the reduction");
        range.succeeded(1, RANGE_EVENTS + 1);
        assert_eq!(range.blocks(), 1, "one block is the minimum");
        range.rejected(1);
        assert_eq!(range.blocks(), 1);
        (0..=GROWTH_PAUSE).for_each(|_| range.succeeded(1, 0));
        assert_eq!(range.blocks(), 2, "after a rejection only after the pause");
    }
}
