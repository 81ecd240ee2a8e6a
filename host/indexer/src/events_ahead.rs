//! Public events ahead of the cursor: what the index made public before it began anew, and has not derived again.
//!
//! The rule: when the cursor passes the block of such an event, the event was derived again, there or before, and stays public; or it
//! is retracted with the commit that passes its block, because a reorganisation removed it meanwhile. Until then its row in
//! `host_chain_events` is all that leads from the block to the public event.

use gateway_activity::PublicEvent;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// By unique key, the first block that had the event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventsAhead(Arc<BTreeMap<String, u64>>);

/// What a batch makes of the events ahead.
#[derive(Default)]
pub(crate) struct PassedEvents {
    /// Unique keys of those that it derived again.
    pub derived_again: BTreeSet<String>,
    /// Those whose block it passes and that are not part of the chain any more.
    pub retracted: Vec<PublicEvent>,
    /// Those that are still ahead.
    pub left: EventsAhead,
}

impl EventsAhead {
    pub(crate) fn new(blocks: impl IntoIterator<Item = (String, u64)>) -> Self {
        Self(Arc::new(blocks.into_iter().collect()))
    }

    /// What the keys of a batch, whose cursor is at `next_block` then, make of the events: those that it derived again, whether others
    /// are missing, and those that are still ahead.
    pub(crate) fn pass<'k>(
        &self,
        keys: impl Iterator<Item = &'k str>,
        next_block: u64,
    ) -> (BTreeSet<String>, bool, Self) {
        let derived_again: BTreeSet<String> = keys.filter(|key| self.0.contains_key(*key)).map(str::to_owned).collect();
        let mut left = (*self.0).clone();
        left.retain(|key, _| !derived_again.contains(key));
        let before = left.len();
        left.retain(|_, block| *block >= next_block);
        let are_missing = left.len() < before;
        (derived_again, are_missing, Self(Arc::new(left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_missing_when_the_cursor_passes_its_block_and_nothing_derived_it_again() {
        let ahead = EventsAhead::new([("a", 5), ("b", 6), ("c", 7)].map(|(key, block)| (key.to_owned(), block)));
        let (again, are_missing, left) = ahead.pass(["c", "new"].into_iter(), 5);
        assert_eq!((again, are_missing), (BTreeSet::from(["c".to_owned()]), false), "an earlier block has it now");
        let (again, are_missing, left) = left.pass(["a"].into_iter(), 6);
        assert_eq!((again.len(), are_missing), (1, false));
        let (_, are_missing, left) = left.pass(std::iter::empty(), 7);
        assert!(are_missing, "b");
        assert_eq!(left, EventsAhead::default());
    }
}
