//! One transaction of an index: events in, rows and the new place out.
//!
//! The rule: the next commit may be derived while one is on its way to the disk, but not before that one has had its turn
//! with the database; each begins where the one before ends, so that none succeeds without it.

use super::{
    Index, Trouble,
    derive::Published,
    reset::moved,
    store::{Known, Place},
    told::{Told, count_logs},
};
use alloy_primitives::B256;
use gateway_plugins::{InFlightGuard, PluginTransaction};
use gateway_storage::{Dialect, Final, StorageError};
use plugin_api::{
    abi::{Outcome, Statement},
    manifest::NewEvent,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::task::AbortOnDropHandle;

/// Time that one commit should take: on SQLite nobody else writes meanwhile.
const COMMIT_TIME: Duration = Duration::from_millis(200);
/// Rows of many events share pages, and a page is written once a commit. But nothing is fetched while the last one is written.
const COMMIT_EVENTS_MAX: usize = 4_000;

/// What goes into one transaction.
pub struct Batch {
    pub events: Vec<Told>,
    /// Where the index is afterwards.
    pub to: Place,
    /// Blocks by whose names a later reorganisation is found.
    pub blocks: Vec<(u64, B256)>,
    /// Whether these blocks are not taken back any more: then nothing is kept for undoing them, and what they make public
    /// is public at once.
    pub is_final: bool,
}

/// A commit on its way to the disk.
pub struct Pending {
    committed: AbortOnDropHandle<Result<(), StorageError>>,
    to: Place,
    events: usize,
    logs: usize,
    is_public: bool,
}

impl Index {
    /// Returns when the batch is durable.
    pub(super) async fn commit(&mut self, batch: Batch) -> Result<(), Trouble> {
        let mut pending = None;
        self.begin_commit(batch, &mut pending).await?;
        self.end_commit(&mut pending).await
    }

    /// Returns when the batch is on its way; what was on its way before is durable then.
    pub(super) async fn begin_commit(&mut self, batch: Batch, pending: &mut Option<Pending>) -> Result<(), Trouble> {
        let known = self.known.clone().ok_or(Trouble::Moved)?;
        // SQLite's transactions take turns. On PostgreSQL this one would not see what the one before has written.
        if self.store.dialect() == Dialect::Postgres {
            self.end_commit(pending).await?;
        }
        let begun = Instant::now();
        let in_flight = self.plugin.acquire().ok_or(Trouble::Closing)?;
        let derived = self.derive_and_settle(&batch).await;
        // Their transactions may share a commit of the database: this one is sent on its way before the other is waited for.
        let sent = match derived {
            Ok((transaction, public)) => self.send(&known, batch, in_flight, transaction, &public),
            Err(trouble) => Err(trouble),
        };
        // Also when this batch failed: what comes next begins where the one before ends.
        self.end_commit(pending).await?;
        let sent = sent?;
        self.adapt(sent.events, begun.elapsed());
        self.known = Some(Known { place: sent.to.clone(), ..known });
        *pending = Some(sent);
        Ok(())
    }

    fn send(
        &self,
        known: &Known,
        batch: Batch,
        in_flight: InFlightGuard,
        transaction: Arc<PluginTransaction>,
        public: &[NewEvent],
    ) -> Result<Pending, Trouble> {
        let last = self.finals(known, &batch, public)?;
        let committed = self.plugin.handle.tasks.spawn(async move {
            let _in_flight = in_flight;
            transaction.commit_with(last).await
        });
        Ok(Pending {
            committed: AbortOnDropHandle::new(committed),
            events: batch.events.len(),
            logs: count_logs(&batch.events),
            to: batch.to,
            is_public: !public.is_empty(),
        })
    }

    /// Returns when what is on its way is durable.
    pub(super) async fn end_commit(&self, pending: &mut Option<Pending>) -> Result<(), Trouble> {
        let Some(pending) = pending.take() else { return Ok(()) };
        // A task ends early only when the plugin stops.
        pending.committed.await.map_err(|_| Trouble::Closing)?.map_err(moved)?;
        if pending.is_public {
            self.host.activity.wake();
        }
        self.progress.wrote(&pending.to, pending.logs);
        Ok(())
    }

    async fn derive_and_settle(&self, batch: &Batch) -> Result<(Arc<PluginTransaction>, Vec<NewEvent>), Trouble> {
        let (transaction, published) = self.derive(batch).await?;
        let public = self.settle(&transaction, batch, published).await?;
        Ok((transaction, public))
    }

    /// Holds what was published until its block is deep enough; answers what is public with this commit.
    async fn settle(
        &self,
        transaction: &PluginTransaction,
        batch: &Batch,
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
    fn public_to(&self, batch: &Batch) -> Option<u64> {
        let last = batch.to.next.checked_sub(1)?;
        let above = if batch.is_final { 0 } else { self.chain.settings.confirmations };
        last.checked_sub(above)
    }

    /// The last block that is not taken back any more, as far as this batch tells.
    fn final_to(&self, batch: &Batch) -> Option<u64> {
        let last = batch.to.next.checked_sub(1)?;
        let above = if batch.is_final { 0 } else { self.chain.settings.reorg_depth };
        last.checked_sub(above)
    }

    fn finals(&self, known: &Known, batch: &Batch, public: &[NewEvent]) -> Result<Vec<Final>, Trouble> {
        let mut statements: Vec<Statement> = Vec::new();
        statements.extend(batch.blocks.iter().map(|(block, hash)| self.store.remember_block(*block, *hash)));
        statements.extend(self.public_to(batch).map(|block| self.store.forget_held(block)));
        statements.extend(self.final_to(batch).into_iter().flat_map(|block| self.store.prune(block)));
        let mut finals: Vec<Final> = statements.into_iter().map(Final::new).collect();
        finals.push(self.store.advance(known, &batch.to));
        let public = self.host.activity.finals(public, self.host.clock.now_s());
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
