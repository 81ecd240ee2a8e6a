//! Starts an index at its first block again, when the fingerprint has changed.
//!
//! The rule: a reset that has begun is finished, also by the next gateway: until then the index has a fingerprint that matches no
//! plugin.

use super::{
    error::IndexError,
    fingerprint::start_block,
    index::Index,
    store::{IndexRow, NO_JOURNAL, to_i64},
};
use gateway_plugins::{CommitMode, PluginTransaction, conflicts::Attempts};
use gateway_storage::decode_rows;
use plugin_api::abi::StatementResult;
use serde::de::DeserializeOwned;

/// What becomes of events that are public and whose blocks a reorganisation could undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undo {
    /// Their blocks are still part of the chain: they stay public, and are not published again.
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
        let mut statements = vec![self.store.allow_writes(NO_JOURNAL)];
        statements.extend(self.tables.iter().map(|table| table.delete_some(STEP_ROWS)));
        let outcomes = transaction.run_as_host(statements).await?;
        if outcomes.iter().any(|outcome| outcome.changes >= u64::from(STEP_ROWS)) {
            transaction.run_as_host(vec![self.store.forbid_writes()]).await?;
            let begin = vec![self.store.begin_reset(row)];
            return transaction.commit_index(begin).await.map_err(IndexError::from_commit);
        }
        self.restart(&transaction, row, undo).await
    }

    /// What ends a reset, in the transaction that has deleted the last rows.
    async fn restart(&self, transaction: &PluginTransaction, row: &IndexRow, undo: Undo) -> Result<(), IndexError> {
        let start = start_block(&self.chain);
        let (plugin, chain) = (self.plugin.name(), &self.chain.name);
        tracing::info!(plugin, chain, start, "the index begins at the first block");
        let rewind_to = if undo == Undo::Blocks { to_i64(start) - 1 } else { to_i64(row.cursor.next_block) };
        let mut opening = vec![self.store.rewind_publisher(row, rewind_to)];
        if undo == Undo::Blocks {
            opening.extend(self.transactions.activity.withdrawal_statement(self.store.public_keys_after(NO_JOURNAL)));
        }
        opening.push(self.store.select_public_events_after(NO_JOURNAL));
        let outcomes = transaction.run_as_host(opening).await?;
        let public = outcomes.last().filter(|_| undo == Undo::Blocks).map_or(Ok(Vec::new()), decode)?;
        let mut statements: Vec<_> = self.store.delete_after(NO_JOURNAL).into();
        statements.push(self.store.forbid_writes());
        transaction.run_as_host(statements).await?;
        let restart = self.store.restart(row, &self.fingerprint, start);
        self.commit_retraction(transaction, restart, &public).await
    }
}

pub(super) fn decode<T: DeserializeOwned>(outcome: &StatementResult) -> Result<Vec<T>, IndexError> {
    Ok(decode_rows(&outcome.rows)?)
}
