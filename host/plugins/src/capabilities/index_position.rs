//! The capability `index`: how far the rows are that a plugin derives from a chain.
//!
//! The rule: the position is read from the database, because on PostgreSQL another gateway may be the one that moves it.

use gateway_chain::Chain;
use gateway_storage::Database;
use plugin_api::{Hash256, abi::HostError, manifest::IndexPosition, sql};

/// None before the first block, and while the rows are derived anew: then they are not those of the block that the row names.
const SELECT: &str = "SELECT next_block, hash FROM host_chain_index \
    WHERE plugin = $1 AND chain = $2 AND shape <> '' AND hash <> ''";

pub(crate) async fn of(database: &Database, plugin: &str, chain: &Chain) -> Result<Option<IndexPosition>, HostError> {
    // Before the rows: the lag is not too small then.
    let head = chain.newest_block()?;
    let rows: Vec<(i64, Hash256)> = database.fetch_all(sql(SELECT).bind((plugin, &chain.name))).await?;
    let confirmations = chain.settings.confirmations;
    Ok(rows.into_iter().next().map(|(next_block, hash)| {
        let block = u64::try_from(next_block.saturating_sub(1)).unwrap_or_default();
        IndexPosition { block, hash, head, confirmations }
    }))
}
