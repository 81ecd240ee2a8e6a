//! Which indexes no longer follow the chain, though they are on.
//!
//! The rule: an index counts as stuck when others have moved for [`STUCK_AFTER`] and it has not. While none moves, the chain is
//! away, and none is stuck.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Longer than another gateway needs to take over an index whose lease expires.
const STUCK_AFTER: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct StuckIndexes {
    /// By plugin: the next block of its index, and since when others are ahead of it.
    seen: BTreeMap<String, (u64, Option<Instant>)>,
    last_move: Option<Instant>,
}

impl StuckIndexes {
    /// Takes the next block of each index.
    pub(crate) fn observe<'p>(&mut self, next_blocks: impl Iterator<Item = (&'p str, u64)> + Clone, now: Instant) {
        let newest = next_blocks.clone().map(|(_, next_block)| next_block).max().unwrap_or_default();
        let has_moved = |(plugin, next): (&str, u64)| self.seen.get(plugin).is_none_or(|(before, _)| *before != next);
        let is_moving = next_blocks.clone().any(has_moved);
        let was_still = self.last_move.is_some_and(|at| now.duration_since(at) > STUCK_AFTER);
        let seen = next_blocks.map(|(plugin, next_block)| {
            let known = self.seen.get(plugin).filter(|(before, _)| *before == next_block && !(is_moving && was_still));
            let behind_since = known.and_then(|(_, since)| *since).or((next_block < newest).then_some(now));
            (plugin.to_owned(), (next_block, behind_since))
        });
        self.seen = seen.collect();
        if is_moving {
            self.last_move = Some(now);
        }
    }

    pub(crate) fn is_stuck(&self, plugin: &str, now: Instant) -> bool {
        let is_moving = self.last_move.is_some_and(|at| now.duration_since(at) <= STUCK_AFTER);
        let behind_since = self.seen.get(plugin).and_then(|(_, since)| *since);
        is_moving && behind_since.is_some_and(|since| now.duration_since(since) > STUCK_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn an_index_that_stands_while_others_move_is_stuck_until_it_moves() {
        let (start, mut stuck) = (Instant::now(), StuckIndexes::default());
        for second in 0..=32 {
            stuck.observe([("a", 100 + u64::from(second)), ("b", 99)].into_iter(), start + SECOND * second);
            assert_eq!(stuck.is_stuck("b", start + SECOND * second), second > 30, "after {second} s");
        }
        let now = start + SECOND * 33;
        stuck.observe([("a", 133), ("b", 100)].into_iter(), now);
        assert!(!stuck.is_stuck("a", now) && !stuck.is_stuck("b", now));
    }

    #[test]
    fn none_is_stuck_when_the_chain_comes_back() {
        let (start, mut stuck) = (Instant::now(), StuckIndexes::default());
        stuck.observe([("a", 100), ("b", 99)].into_iter(), start);
        let now = start + SECOND * 600;
        stuck.observe([("a", 100), ("b", 99)].into_iter(), now);
        assert!(!stuck.is_stuck("b", now), "the chain is away");
        stuck.observe([("a", 150), ("b", 99)].into_iter(), now);
        assert!(!stuck.is_stuck("b", now), "the chain is back");
    }
}
