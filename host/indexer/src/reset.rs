//! Starts an index at its first block again, when the fingerprint has changed.
//!
//! The rule: a reset that has begun is finished, also by the next gateway: until then the index has a fingerprint that matches no
//! plugin. Its position goes with the first row that is deleted, because readers take the rows for those of that block.

use super::{
    error::IndexError,
    fingerprint::start_block,
    index::Index,
    store::{BEFORE_FIRST_BLOCK, IndexRow, NO_UNDO, to_i64},
};
use gateway_activity::PublicEvent;
use gateway_plugins::{CommitMode, PluginTransaction, conflicts::Attempts};
use gateway_storage::decode_rows;

/// What becomes of events that are public and whose blocks a reorganisation could undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undo {
    /// Their blocks are still part of the chain: they stay public, and are not published again. Those that are not derived again,
    /// because the chain is reorganised meanwhile, are retracted then ([`super::events_ahead`]).
    Rows,
    /// Their blocks are gone: they are retracted.
    Blocks,
}

/// Rows of each table that one transaction deletes. Millions at once would hold up all other writes, and never end within the
/// time that a transaction has.
const STEP_ROWS: u32 = 5_000;

impl Index {
    /// Empties the derived tables and sets the cursor to the first block; or deletes a part of the rows, after which the next
    /// tick goes on.
    pub(super) async fn reset(&mut self, row: &IndexRow, undo: Undo) -> Result<(), IndexError> {
        self.row = None;
        let mut attempts = Attempts::default();
        loop {
            let outcome = self.reset_once(row, undo).await;
            if !self.runs_again(&mut attempts, outcome.as_ref().err()).await {
                return outcome;
            }
        }
    }

    async fn reset_once(&self, row: &IndexRow, undo: Undo) -> Result<(), IndexError> {
        let transaction = PluginTransaction::new(&self.transactions, self.scope.clone(), CommitMode::Index);
        // All of it in the first step: the row of the index has no position after that.
        let public = self.undo_events(&transaction, row, undo).await?;
        let mut statements = vec![self.store.allow_writes(NO_UNDO)];
        statements.extend(self.tables.iter().map(|table| table.delete_some(STEP_ROWS)));
        let outcomes = transaction.run_as_host(statements).await?;
        let are_left = outcomes.iter().any(|outcome| outcome.changes >= u64::from(STEP_ROWS));
        transaction.run_as_host(vec![self.store.forbid_writes()]).await?;
        let start = start_block(&self.chain);
        let restart = self.store.restart(row, if are_left { "" } else { &self.fingerprint }, start);
        self.commit_retraction(&transaction, restart, &public).await?;
        self.progress.restarted(start, self.chain.live_head().map(|head| head.number));
        if !are_left {
            let (plugin, chain) = (self.plugin.name(), &self.chain.name);
            tracing::info!(plugin, chain, start, "the index begins at the first block");
        }
        Ok(())
    }

    /// Deletes what undoes blocks, and the events that are not public. Returns those that are public and to be retracted.
    async fn undo_events(
        &self,
        transaction: &PluginTransaction,
        row: &IndexRow,
        undo: Undo,
    ) -> Result<Vec<PublicEvent>, IndexError> {
        let (start, undoes_blocks) = (start_block(&self.chain), undo == Undo::Blocks);
        let rewind_to = if undoes_blocks { to_i64(start) - 1 } else { to_i64(row.cursor.next_block) };
        let mut opening = vec![self.store.rewind_publisher(row, rewind_to)];
        if undoes_blocks {
            let keys = || self.store.public_keys_after(BEFORE_FIRST_BLOCK);
            opening.extend(self.transactions.activity.withdrawal_statement(keys()));
            opening.push(self.store.select_public_events(keys()));
        }
        let outcomes = transaction.run_as_host(opening).await?;
        let public = outcomes.last().filter(|_| undoes_blocks);
        let public = public.map_or(Ok(Vec::new()), |outcome| decode_rows(&outcome.rows))?;
        let mut statements: Vec<_> = self.store.delete_after(BEFORE_FIRST_BLOCK).into();
        statements.push(self.store.delete_events_after(BEFORE_FIRST_BLOCK, !undoes_blocks));
        transaction.run_as_host(statements).await?;
        Ok(public)
    }
}
