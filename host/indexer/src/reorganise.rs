//! Undoes a reorganisation back to the last block that both branches have, by the undo log, newest change first.
//!
//! The rule: a reorganisation deeper than the undo log stops the index. Events of undone blocks that were public are retracted in
//! the same transaction, and those that are committed and not yet public never become so.

use super::{
    error::IndexError,
    events_ahead::EventsAhead,
    fingerprint::start_block,
    index::Index,
    reset::Undo,
    store::{Cursor, IndexRow, NO_UNDO, UndoRow, to_i64},
};
use gateway_activity::PublicEvent;
use gateway_plugins::{CommitMode, PluginTransaction, conflicts::Attempts};
use gateway_storage::{CommitStatement, decode_rows};
use plugin_api::abi::Statement;

impl Index {
    /// Whether the last indexed block is no longer part of the chain, at any depth: the gateway may have been off
    /// meanwhile.
    pub(super) async fn is_orphaned(&self, row: &IndexRow) -> Result<bool, IndexError> {
        let (Some(hash), Some(last)) = (row.cursor.hash, row.cursor.next_block.checked_sub(1)) else {
            return Ok(false);
        };
        let headers = self.chain.headers(&[last]).await?;
        let header = headers.first().ok_or_else(|| self.chain.unavailable())?;
        Ok(header.hash != hash)
    }

    pub(super) async fn reorganise(&mut self, row: &IndexRow) -> Result<(), IndexError> {
        let recent = self.store.recent_blocks().await?;
        let next_block = row.cursor.next_block;
        let cursor = match self.chain.common_ancestor(&recent).await? {
            Some((block, hash)) => Cursor { next_block: block + 1, hash: Some(hash) },
            // So few blocks are indexed that a reorganisation may undo all of them.
            None if next_block <= start_block(&self.chain).saturating_add(self.chain.settings.reorg_depth) => {
                return self.reset(row, Undo::Blocks).await;
            }
            None => return Err(IndexError::Unrecoverable(self.too_deep(row))),
        };
        let undone = self.undo(row, &cursor).await?;
        let (plugin, depth) = (self.plugin.name(), next_block.saturating_sub(cursor.next_block));
        let back_to = cursor.next_block.saturating_sub(1);
        let chain = &self.chain.name;
        tracing::info!(plugin, chain, depth, undone, back_to, "the chain was reorganised");
        let labels = [("plugin", plugin.to_owned()), ("chain", chain.clone())];
        metrics::counter!("gateway_chain_reorganisations_total", &labels).increment(1);
        // Events ahead of the cursor were on the branch that is gone: they are retracted, too.
        self.row = Some(IndexRow { cursor, events_ahead: EventsAhead::default(), ..row.clone() });
        Ok(())
    }

    /// Undoes everything after the cursor in one transaction, and returns the number of changes.
    async fn undo(&self, row: &IndexRow, cursor: &Cursor) -> Result<usize, IndexError> {
        let mut attempts = Attempts::default();
        loop {
            let undone = self.undo_once(row, cursor).await;
            if !self.runs_again(&mut attempts, undone.as_ref().err()).await {
                return undone;
            }
        }
    }

    async fn undo_once(&self, row: &IndexRow, cursor: &Cursor) -> Result<usize, IndexError> {
        let after = to_i64(cursor.next_block) - 1;
        let transaction = PluginTransaction::new(&self.transactions, self.scope.clone(), CommitMode::Index);
        let mut opening = vec![self.store.rewind_publisher(row, after), self.store.allow_writes(NO_UNDO)];
        opening.extend(self.transactions.activity.withdrawal_statement(self.store.public_keys_after(after)));
        opening.push(self.store.select_public_events(self.store.public_keys_after(after)));
        opening.push(self.store.select_undo_log_after(after));
        let outcomes = transaction.run_as_host(opening).await?;
        let mut selected = outcomes.iter().rev();
        let changes: Vec<UndoRow> = selected.next().map_or(Ok(Vec::new()), |outcome| decode_rows(&outcome.rows))?;
        let public = selected.next().map_or(Ok(Vec::new()), |outcome| decode_rows(&outcome.rows))?;
        let statements = changes.iter().map(|change| self.undo_change(change)).collect::<Result<Vec<_>, _>>()?;
        transaction.run_as_host(statements).await?;
        let mut closing = vec![self.store.forbid_writes()];
        closing.extend(self.store.delete_after(after));
        closing.push(self.store.delete_events_after(after, false));
        transaction.run_as_host(closing).await?;
        self.commit_retraction(&transaction, self.store.advance(row, cursor), &public).await?;
        Ok(changes.len())
    }

    /// Commits what undoes blocks, and retracts the events of these blocks that were public.
    pub(super) async fn commit_retraction(
        &self,
        transaction: &PluginTransaction,
        cursor: CommitStatement,
        public: &[PublicEvent],
    ) -> Result<(), IndexError> {
        let mut statements = vec![cursor];
        statements.extend(self.transactions.activity.retraction_statements(public, self.transactions.clock.now_s()));
        transaction.commit_index(statements).await.map_err(IndexError::from_commit)?;
        self.notify_retracted(public.len());
        Ok(())
    }

    /// After the commit that retracts so many public events.
    pub(super) fn notify_retracted(&self, events: usize) {
        if events > 0 {
            tracing::warn!(plugin = self.plugin.name(), chain = self.chain.name, events, "public events are retracted");
            self.transactions.activity.notify_written();
        }
    }

    fn undo_change(&self, change: &UndoRow) -> Result<Statement, IndexError> {
        let table = self.tables.iter().find(|table| table.name == change.tab);
        let unknown = || IndexError::Unrecoverable(format!("the undo log names {}, no derived table", change.tab));
        table.ok_or_else(unknown)?.undo(self.store.dialect(), change).map_err(IndexError::Unrecoverable)
    }

    fn too_deep(&self, row: &IndexRow) -> String {
        format!(
            "none of the last {} indexed blocks (up to {}) is part of the chain any more: it was reorganised deeper than \
             chains.{}.reorg_depth, or it is another chain; `gateway plugins reindex {}` lets the index begin anew",
            self.chain.settings.reorg_depth,
            row.cursor.next_block.saturating_sub(1),
            self.chain.name,
            self.plugin.name(),
        )
    }
}
