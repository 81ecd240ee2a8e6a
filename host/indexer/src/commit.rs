//! One transaction of an index: a batch of events in, derived rows and the new cursor out.
//!
//! The rule: the next batch may be derived while a commit is written to disk, but its statements run after those of
//! that commit; each transaction expects the cursor of the one before, so that none succeeds without it.

use super::{
    batch::Batch,
    decode::count_logs,
    derive::DerivedBatch,
    error::IndexError,
    index::Index,
    store::{EmittedEvent, IndexRow},
};
use gateway_plugins::{InFlightGuard, conflicts::Attempts};
use gateway_storage::{CommitStatement, Dialect, StorageError};
use plugin_api::abi::Statement;
use std::time::{Duration, Instant};
use tokio_util::task::AbortOnDropHandle;

/// Target time of one commit: on SQLite all other writes wait meanwhile.
const COMMIT_TIME: Duration = Duration::from_millis(200);
/// A larger commit writes fewer pages per event, but nothing is fetched while the last commit is written.
const COMMIT_EVENTS_MAX: usize = 4_000;

/// A commit in flight.
pub(crate) struct PendingCommit {
    task: AbortOnDropHandle<Result<(), StorageError>>,
    /// Where the batch began, and the batch: it is derived again if the commit conflicts with another transaction.
    row: IndexRow,
    batch: Batch,
    /// Number of public events that it retracts.
    retracted: usize,
}

impl Index {
    /// Returns when the batch is durable.
    pub(super) async fn commit(&mut self, batch: Batch) -> Result<(), IndexError> {
        let mut pending = None;
        self.start_commit(batch, &mut pending).await?;
        self.finish_commit(&mut pending).await
    }

    /// Returns when the batch is in flight; the batch before it is durable then.
    pub(super) async fn start_commit(
        &mut self,
        batch: Batch,
        pending: &mut Option<PendingCommit>,
    ) -> Result<(), IndexError> {
        let row = self.row.clone().ok_or(IndexError::CursorMoved)?;
        // SQLite runs transactions one after the other. On PostgreSQL this one would not see the writes of the one
        // before.
        if self.store.dialect() == Dialect::Postgres {
            self.finish_commit(pending).await?;
        }
        let started = Instant::now();
        let in_flight = self.plugin.acquire().ok_or(IndexError::Stopping)?;
        let derived = self.derive(&row, &batch).await;
        // Both transactions may share a group commit of the database: this one is sent before the other is awaited.
        let sent = derived.map(|derived| {
            let events_ahead = derived.passed.left.clone();
            (self.send(row.clone(), batch, in_flight, derived), events_ahead)
        });
        // Also when this batch failed: the next one starts at the cursor of the one before.
        self.finish_commit(pending).await?;
        let (sent, events_ahead) = sent?;
        self.adapt_commit_events(sent.batch.events.len(), started.elapsed());
        self.row = Some(IndexRow { cursor: sent.batch.cursor.clone(), events_ahead, ..row });
        *pending = Some(sent);
        Ok(())
    }

    fn send(&self, row: IndexRow, batch: Batch, in_flight: InFlightGuard, derived: DerivedBatch) -> PendingCommit {
        let (transaction, retracted) = (derived.transaction.clone(), derived.passed.retracted.len());
        let statements = self.commit_statements(&row, &batch, derived);
        let task = self.plugin.handle.tasks.spawn(async move {
            let _in_flight = in_flight;
            transaction.commit_index(statements).await
        });
        PendingCommit { task: AbortOnDropHandle::new(task), row, batch, retracted }
    }

    /// Returns when the commit in flight is durable.
    pub(super) async fn finish_commit(&mut self, pending: &mut Option<PendingCommit>) -> Result<(), IndexError> {
        let Some(PendingCommit { task, row, batch, retracted }) = pending.take() else { return Ok(()) };
        // A task ends early only when the plugin stops.
        let committed = task.await.map_err(|_| IndexError::Stopping)?.map_err(IndexError::from_commit);
        let mut committed = committed.map(|()| retracted);
        let mut attempts = Attempts::default();
        while self.runs_again(&mut attempts, committed.as_ref().err()).await {
            committed = self.commit_once(&row, &batch).await;
        }
        self.notify_retracted(committed?);
        self.time_factor = 1;
        self.progress.committed(&batch.cursor, count_logs(&batch.events));
        Ok(())
    }

    /// Derives the batch and commits it; returns the number of public events that it retracts.
    async fn commit_once(&self, row: &IndexRow, batch: &Batch) -> Result<usize, IndexError> {
        let _in_flight = self.plugin.acquire().ok_or(IndexError::Stopping)?;
        let derived = self.derive_once(row, batch).await?;
        let (transaction, retracted) = (derived.transaction.clone(), derived.passed.retracted.len());
        let statements = self.commit_statements(row, batch, derived);
        transaction.commit_index(statements).await.map_err(IndexError::from_commit)?;
        Ok(retracted)
    }

    /// The last block that no reorganisation undoes, as far as this batch shows.
    fn final_to(&self, batch: &Batch) -> Option<u64> {
        let last = batch.cursor.next_block.checked_sub(1)?;
        Some(if batch.is_final { last } else { self.chain.final_number(last) })
    }

    /// The statements that end the transaction: the events for the publisher, bookkeeping, the cursor, and what is retracted.
    fn commit_statements(&self, row: &IndexRow, batch: &Batch, derived: DerivedBatch) -> Vec<CommitStatement> {
        let DerivedBatch { emitted, passed, .. } = derived;
        let is_public = |event: &EmittedEvent| event.unique_key().is_some_and(|key| passed.derived_again.contains(key));
        let insert_event = |event: EmittedEvent| {
            let is_public = is_public(&event);
            // One that is public and final is not needed any more.
            (!(is_public && batch.is_final)).then(|| self.store.insert_event(event, batch.is_final, is_public))
        };
        let mut statements: Vec<Statement> = emitted.into_iter().filter_map(insert_event).collect();
        statements.extend(batch.blocks.iter().map(|(block, hash)| self.store.insert_block(*block, *hash)));
        statements.extend(self.final_to(batch).into_iter().flat_map(|block| self.store.prune(block)));
        let mut statements: Vec<CommitStatement> = statements.into_iter().map(CommitStatement::new).collect();
        statements.push(self.store.advance(row, &batch.cursor));
        let now_s = self.transactions.clock.now_s();
        statements.extend(self.transactions.activity.retraction_statements(&passed.retracted, now_s));
        statements
    }

    /// Adapts the number of events per commit to the time that a commit takes.
    fn adapt_commit_events(&mut self, events: usize, elapsed: Duration) {
        if elapsed > COMMIT_TIME * 2 {
            self.commit_events = (self.commit_events / 2).max(1);
        } else if events >= self.commit_events && elapsed < COMMIT_TIME {
            self.commit_events = (self.commit_events * 2).min(COMMIT_EVENTS_MAX);
        }
    }
}
