//! One transaction of an index: events in, rows and the new place out.

use super::{
    Index, Trouble,
    derive::Published,
    reset::moved,
    store::{Known, Place},
};
use crate::{
    chain::log::RawLog,
    plugins::PluginTransaction,
    storage::{Final, StorageError},
};
use alloy_primitives::B256;
use plugin_api::{
    abi::{Outcome, Statement},
    manifest::NewEvent,
};
use std::time::{Duration, Instant};

/// Time that one commit should take: on SQLite nobody else writes meanwhile.
const COMMIT_TIME: Duration = Duration::from_millis(200);
/// Rows of many events share pages, and a page is written once a commit.
const COMMIT_EVENTS_MAX: usize = 10_000;

/// What goes into one transaction.
pub struct Batch<'a> {
    pub logs: &'a [RawLog],
    /// Where the index is afterwards.
    pub to: Place,
    /// Blocks by whose names a later reorganisation is found.
    pub blocks: Vec<(u64, B256)>,
    /// Whether these blocks are not taken back any more: then nothing is kept for undoing them, and what they make public
    /// is public at once.
    pub is_final: bool,
}

impl Index {
    pub(super) async fn commit(&mut self, known: &Known, batch: Batch<'_>) -> Result<(), Trouble> {
        let begun = Instant::now();
        let Some(_visit) = self.plugin.enter() else { return Err(Trouble::Closing) };
        let (transaction, published) = self.derive(&batch).await?;
        let public = self.settle(&transaction, &batch, published).await?;
        let last = self.finals(known, &batch, &public)?;
        transaction.commit_with(last).await.map_err(moved)?;
        if !public.is_empty() {
            self.services.activity.wake();
        }
        self.adapt(batch.logs.len(), begun.elapsed());
        self.progress.wrote(&batch.to, batch.logs.len());
        self.known = Some(Known { place: batch.to, ..known.clone() });
        Ok(())
    }

    /// Holds what was published until its block is deep enough; answers what is public with this commit.
    async fn settle(
        &self,
        transaction: &PluginTransaction,
        batch: &Batch<'_>,
        published: Published,
    ) -> Result<Vec<NewEvent>, Trouble> {
        let hold = |(block, event): &(u64, NewEvent)| {
            let text = serde_json::to_string(event).map_err(|error| StorageError::Internal(error.to_string()))?;
            Ok(self.store.hold_event(*block, text))
        };
        let mut statements = match batch.is_final {
            true => Vec::new(),
            false => published.iter().map(hold).collect::<Result<Vec<Statement>, StorageError>>()?,
        };
        let public_to = self.public_to(batch);
        statements.extend(public_to.map(|block| self.store.held_events(block)));
        let outcomes = transaction.run_as_host(statements).await?;
        let held = outcomes.last().filter(|_| public_to.is_some());
        let mut public = held.map_or(Ok(Vec::new()), held_events)?;
        if batch.is_final {
            public.extend(published.into_iter().map(|(_, event)| event));
        }
        Ok(public)
    }

    /// The last block that has enough blocks on top.
    fn public_to(&self, batch: &Batch<'_>) -> Option<u64> {
        let last = batch.to.next.checked_sub(1)?;
        let above = if batch.is_final { 0 } else { self.chain.settings.confirmations };
        last.checked_sub(above)
    }

    /// The last block that is not taken back any more, as far as this batch tells.
    fn final_to(&self, batch: &Batch<'_>) -> Option<u64> {
        let last = batch.to.next.checked_sub(1)?;
        let above = if batch.is_final { 0 } else { self.chain.settings.reorg_depth };
        last.checked_sub(above)
    }

    fn finals(&self, known: &Known, batch: &Batch<'_>, public: &[NewEvent]) -> Result<Vec<Final>, Trouble> {
        let mut statements: Vec<Statement> = Vec::new();
        statements.extend(batch.blocks.iter().map(|(block, hash)| self.store.remember_block(*block, *hash)));
        statements.extend(self.public_to(batch).map(|block| self.store.forget_held(block)));
        statements.extend(self.final_to(batch).into_iter().flat_map(|block| self.store.prune(block)));
        let mut finals: Vec<Final> = statements.into_iter().map(Final::new).collect();
        finals.push(self.store.advance(known, &batch.to));
        let public = self.services.activity.finals(public, self.services.clock.now_s());
        finals.extend(public.map_err(|error| Trouble::Handler(error.to_string()))?);
        Ok(finals)
    }

    /// As many events a commit as fit its time.
    fn adapt(&mut self, events: usize, took: Duration) {
        if took > COMMIT_TIME * 2 {
            self.commit_events = (self.commit_events / 2).max(1);
        } else if events >= self.commit_events && took < COMMIT_TIME {
            self.commit_events = (self.commit_events * 2).min(COMMIT_EVENTS_MAX);
        }
    }
}

fn held_events(outcome: &Outcome) -> Result<Vec<NewEvent>, Trouble> {
    let broken = |error: String| Trouble::Storage(StorageError::Internal(error));
    let texts: Vec<String> = plugin_api::decode_rows(&outcome.rows).map_err(|error| broken(error.to_string()))?;
    texts.iter().map(|text| serde_json::from_str(text).map_err(|error| broken(error.to_string()))).collect()
}

/// How many of the logs go into one commit: about `most`, and whole blocks.
pub fn cut(logs: &[RawLog], most: usize) -> usize {
    let Some(last) = logs.get(most.saturating_sub(1)) else { return logs.len() };
    let rest = logs.iter().skip(most).position(|log| log.block_number != last.block_number);
    rest.map_or(logs.len(), |extra| most + extra)
}
