//! A reorganisation: back to the last block that both branches have, by the journal, newest change first.

use super::{
    Index, Trouble,
    reset::{moved, start},
    store::{JournalRow, Known, NO_JOURNAL, Place, signed},
};
use gateway_plugins::{PluginTransaction, TransactionOwner};
use gateway_storage::StorageError;
use plugin_api::abi::{Outcome, Statement};

impl Index {
    /// Whether the last indexed block was taken back while nobody looked, however deep its place is by now.
    pub(super) async fn is_abandoned(&self, known: &Known) -> Result<bool, Trouble> {
        let (Some(hash), Some(last)) = (known.place.hash, known.place.next.checked_sub(1)) else { return Ok(false) };
        let found = self.chain.headers(&[last]).await?;
        let header = found.first().ok_or_else(|| self.chain.unavailable())?;
        Ok(header.hash != hash)
    }

    pub(super) async fn reorganise(&mut self, known: &Known) -> Result<(), Trouble> {
        let window = self.store.window().await?;
        let place = match self.chain.common_block(&window).await? {
            Some((block, hash)) => Place { next: block + 1, hash: Some(hash) },
            // So little was indexed that all of it may be taken back.
            None if known.place.next <= start(&self.chain).saturating_add(self.chain.settings.reorg_depth) => {
                return self.reset(known).await;
            }
            None => return Err(Trouble::Stop(self.too_deep(known))),
        };
        let undone = self.undo(known, &place).await?;
        let (plugin, depth) = (self.plugin.name(), known.place.next.saturating_sub(place.next));
        tracing::info!(plugin, depth, undone, back_to = place.next.saturating_sub(1), "the chain was reorganised");
        metrics::counter!("chain_reorganisations_total", "plugin" => plugin.to_owned()).increment(1);
        self.known = Some(Known { place, ..known.clone() });
        Ok(())
    }

    /// One transaction; answers how many changes were taken back.
    async fn undo(&self, known: &Known, place: &Place) -> Result<usize, Trouble> {
        let after = signed(place.next) - 1;
        let transaction = PluginTransaction::new(&self.host, self.scope.clone(), TransactionOwner::Index);
        let opening = vec![self.store.begin_turn(NO_JOURNAL), self.store.changes_after(after)];
        let outcomes = transaction.run_as_host(opening).await?;
        let changes = outcomes.last().map_or(Ok(Vec::new()), journal)?;
        let statements = changes.iter().map(|change| self.undo_one(change)).collect::<Result<Vec<_>, _>>()?;
        transaction.run_as_host(statements).await?;
        let mut closing = vec![self.store.end_turn()];
        closing.extend(self.store.forget_after(after));
        transaction.run_as_host(closing).await?;
        transaction.commit_with(vec![self.store.advance(known, place)]).await.map_err(moved)?;
        Ok(changes.len())
    }

    fn undo_one(&self, change: &JournalRow) -> Result<Statement, Trouble> {
        let table = self.tables.iter().find(|table| table.name == change.tab);
        let table =
            table.ok_or_else(|| Trouble::Stop(format!("the journal names {}, no derived table", change.tab)))?;
        table.undo(self.store.dialect(), change).map_err(Trouble::Stop)
    }

    fn too_deep(&self, known: &Known) -> String {
        format!(
            "none of the last {} indexed blocks (up to {}) is part of the chain any more: it was reorganised deeper than \
             chains.{}.reorg_depth, or it is another chain; `gateway plugins reindex {}` lets the index begin anew",
            self.chain.settings.reorg_depth,
            known.place.next.saturating_sub(1),
            self.chain.name,
            self.plugin.name(),
        )
    }
}

fn journal(outcome: &Outcome) -> Result<Vec<JournalRow>, Trouble> {
    plugin_api::decode_rows(&outcome.rows).map_err(|error| StorageError::Internal(error.to_string()).into())
}
