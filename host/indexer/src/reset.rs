//! Starts an index at its first block again, when the fingerprint has changed.

use super::{
    error::IndexError,
    fingerprint::start_block,
    index::Index,
    store::{IndexRow, NO_JOURNAL, to_i64},
};
use gateway_plugins::{PluginTransaction, TransactionOwner};
use gateway_storage::StorageError;
use plugin_api::{abi::StatementResult, sql};
use serde::de::DeserializeOwned;

/// What becomes of events that are public and whose blocks a reorganisation could undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undo {
    /// Their blocks are still part of the chain: they stay public, and are not published again.
    Rows,
    /// Their blocks are gone: they are retracted.
    Blocks,
}

impl Index {
    /// Empties the derived tables and sets the cursor to the first block.
    pub(super) async fn reset(&mut self, row: &IndexRow, undo: Undo) -> Result<(), IndexError> {
        let start = start_block(&self.chain);
        tracing::info!(plugin = self.plugin.name(), start, "the index begins at the first block");
        let transaction = PluginTransaction::new(&self.host, self.scope.clone(), TransactionOwner::Index);
        let rewind_to = if undo == Undo::Blocks { to_i64(start) - 1 } else { to_i64(row.cursor.next_block) };
        let opening = vec![
            self.store.rewind_publisher(row, rewind_to),
            self.store.allow_writes(NO_JOURNAL),
            self.store.select_public_events_after(NO_JOURNAL),
        ];
        let outcomes = transaction.run_as_host(opening).await?;
        let public = outcomes.last().filter(|_| undo == Undo::Blocks).map_or(Ok(Vec::new()), decode)?;
        let delete_rows = |table: &String| sql(format!("DELETE FROM {table}")).into();
        let mut statements: Vec<_> = self.table_names.iter().map(delete_rows).collect();
        statements.extend(self.store.delete_after(NO_JOURNAL));
        statements.push(self.store.forbid_writes());
        transaction.run_as_host(statements).await?;
        let restart = self.store.restart(row, &self.fingerprint, start);
        self.commit_retraction(&transaction, restart, &public).await?;
        self.row = None;
        Ok(())
    }
}

pub(super) fn decode<T: DeserializeOwned>(outcome: &StatementResult) -> Result<Vec<T>, IndexError> {
    plugin_api::host::decode_rows(&outcome.rows).map_err(|error| StorageError::Internal(error.to_string()).into())
}
