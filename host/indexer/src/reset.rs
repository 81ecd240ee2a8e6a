//! Beginning anew: when what is indexed is no longer what the rows were derived from.

use super::{
    Index, Trouble,
    store::{Known, NO_JOURNAL},
};
use gateway_chain::Chain;
use gateway_chain::event::Listening;
use gateway_plugins::{PluginTransaction, TransactionOwner};
use gateway_storage::StorageError;
use plugin_api::{manifest::Manifest, sql};
use sha2::{Digest as _, Sha256};

/// The derived tables of all subscriptions, each once, in the order of the manifest.
pub fn derived_tables(manifest: &Manifest) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    for table in manifest.subscriptions.iter().flat_map(|subscription| &subscription.derived_tables) {
        if !tables.contains(table) {
            tables.push(table.clone());
        }
    }
    tables
}

/// A hash of everything that the rows follow from, besides the chain.
pub fn shape(chain: &Chain, listening: &Listening, manifest: &Manifest) -> String {
    let tables = derived_tables(manifest);
    let mut hash = Sha256::new();
    hash.update(format!("{} {} {}\n", chain.chain_id, start(chain), manifest.index_version));
    hash.update(listening.shape());
    for migration in &manifest.migrations {
        let text = format!("{}{}", migration.sql, migration.postgres.as_deref().unwrap_or_default());
        if tables.iter().any(|table| text.contains(table.as_str())) {
            hash.update(text);
        }
    }
    hash.update(tables.join(","));
    hex::encode(hash.finalize())
}

pub fn start(chain: &Chain) -> u64 {
    chain.settings.deploy_block.unwrap_or_default()
}

impl Index {
    /// Empties the derived tables and goes back to the first block.
    pub(super) async fn reset(&mut self, known: &Known) -> Result<(), Trouble> {
        let start = start(&self.chain);
        tracing::info!(plugin = self.plugin.name(), start, "the index begins at the first block");
        let transaction = PluginTransaction::new(&self.host, self.scope.clone(), TransactionOwner::Index);
        let mut statements = vec![self.store.begin_turn(NO_JOURNAL)];
        let empty = |table: &String| sql(format!("DELETE FROM {table}")).into();
        statements.extend(self.derived.iter().map(empty));
        statements.extend(self.store.forget_after(NO_JOURNAL));
        statements.push(self.store.end_turn());
        transaction.run_as_host(statements).await?;
        let outcome = transaction.commit_with(vec![self.store.restart(known, &self.shape, start)]).await;
        outcome.map_err(moved)?;
        self.known = None;
        Ok(())
    }
}

/// A commit that did not find the index where it was left.
pub fn moved(error: StorageError) -> Trouble {
    match error {
        StorageError::Rejected(_) => Trouble::Moved,
        error => error.into(),
    }
}
