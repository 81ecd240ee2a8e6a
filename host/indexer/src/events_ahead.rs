//! Public events ahead of the cursor: what the index made public before it began anew, and has not derived again.
//!
//! The rule: when the cursor passes the block of such an event, the event was derived again, there or before, and stays public; or it
//! is retracted with the commit that passes its block, because a reorganisation removed it meanwhile. Until then its row in
//! `host_chain_events` is all that leads from the block to the public event.

use super::{
    batch::Batch,
    error::IndexError,
    index::Index,
    store::{EmittedEvent, IndexRow, to_i64},
};
use gateway_activity::PublicEvent;
use gateway_plugins::PluginTransaction;
use gateway_storage::decode_rows;
use plugin_api::abi::Statement;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Keys of one statement: databases limit its parameters.
const STATEMENT_KEYS: usize = 1_000;

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

    /// Those of these events that are ahead, whether others lose their block before `next_block`, and the rest.
    fn pass<'k>(&self, keys: impl Iterator<Item = &'k str>, next_block: u64) -> (BTreeSet<String>, bool, Self) {
        let derived_again: BTreeSet<String> = keys.filter(|key| self.0.contains_key(*key)).map(str::to_owned).collect();
        let mut left = (*self.0).clone();
        left.retain(|key, _| !derived_again.contains(key));
        let before = left.len();
        left.retain(|_, block| *block >= next_block);
        let are_missing = left.len() < before;
        (derived_again, are_missing, Self(Arc::new(left)))
    }
}

impl Index {
    /// Removes the rows of the events that the batch derives again or whose block it passes, in its transaction.
    pub(super) async fn pass_events_ahead(
        &self,
        transaction: &PluginTransaction,
        (row, batch): (&IndexRow, &Batch),
        emitted: &[EmittedEvent],
    ) -> Result<PassedEvents, IndexError> {
        if row.events_ahead == EventsAhead::default() {
            return Ok(PassedEvents::default());
        }
        let keys = emitted.iter().filter_map(EmittedEvent::unique_key);
        let (derived_again, are_missing, left) = row.events_ahead.pass(keys, batch.cursor.next_block);
        if derived_again.is_empty() && !are_missing {
            return Ok(PassedEvents { left, ..PassedEvents::default() });
        }
        let after = to_i64(row.cursor.next_block) - 1;
        let last = to_i64(batch.cursor.next_block) - 1;
        let keys: Vec<&String> = derived_again.iter().collect();
        let delete = |keys: &[&String]| self.store.delete_public_events(after, keys);
        let mut statements: Vec<Statement> = keys.chunks(STATEMENT_KEYS).map(delete).collect();
        if are_missing {
            // What is left up to the last block of the batch was not derived again.
            let passed = || self.store.public_keys_between(after, last);
            statements.extend(self.transactions.activity.withdrawal_statement(passed()));
            statements.push(self.store.select_public_events(passed()));
        }
        let outcomes = transaction.run_as_host(statements).await?;
        if are_missing {
            let delete = self.store.delete_public_events_of(after, self.store.public_keys_between(after, last));
            transaction.run_as_host(vec![delete]).await?;
        }
        let retracted = outcomes.last().filter(|_| are_missing);
        let retracted = retracted.map_or(Ok(Vec::new()), |outcome| decode_rows(&outcome.rows))?;
        Ok(PassedEvents { derived_again, retracted, left })
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
