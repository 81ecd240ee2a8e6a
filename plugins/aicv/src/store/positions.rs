//! Where the indexes are: each commits its rows together with its position.

use plugin_api::{Hash256, HostError, Query, sql};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The last block that an index has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub block: i64,
    pub hash: Hash256,
}

#[derive(Deserialize)]
struct Row {
    plugin: String,
    block: i64,
    hash: String,
}

/// Of the main chain, by plugin; `None` of an index that has no block yet.
pub async fn read(db: &impl Query) -> Result<BTreeMap<String, Option<Position>>, HostError> {
    let rows: Vec<Row> =
        db.rows(sql("SELECT plugin, block, hash FROM host_chain_positions_v1 WHERE chain = 'main'")).await?;
    let position = |row: Row| {
        let hash = row.hash.parse().ok();
        (row.plugin, hash.map(|hash| Position { block: row.block, hash }))
    };
    Ok(rows.into_iter().map(position).collect())
}
