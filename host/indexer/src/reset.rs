//! Starts an index at its first block again, when the fingerprint has changed.

use super::{
    error::IndexError,
    fingerprint::start_block,
    index::Index,
    store::{IndexRow, NO_JOURNAL},
};
use gateway_plugins::{PluginTransaction, TransactionOwner};
use plugin_api::sql;

impl Index {
    /// Empties the derived tables and sets the cursor to the first block.
    pub(super) async fn reset(&mut self, row: &IndexRow) -> Result<(), IndexError> {
        let start = start_block(&self.chain);
        tracing::info!(plugin = self.plugin.name(), start, "the index begins at the first block");
        let transaction = PluginTransaction::new(&self.host, self.scope.clone(), TransactionOwner::Index);
        let mut statements = vec![self.store.allow_writes(NO_JOURNAL)];
        let delete_rows = |table: &String| sql(format!("DELETE FROM {table}")).into();
        statements.extend(self.table_names.iter().map(delete_rows));
        statements.extend(self.store.delete_after(NO_JOURNAL));
        statements.push(self.store.forbid_writes());
        transaction.run_as_host(statements).await?;
        let restart = self.store.restart(row, &self.fingerprint, start);
        transaction.commit_with(vec![restart]).await.map_err(IndexError::from_commit)?;
        self.row = None;
        Ok(())
    }
}
