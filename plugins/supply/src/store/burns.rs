//! How far base fees are counted. The rule: a row is written only while the one that it follows from is still there.

use crate::model::Position;
use alloy_primitives::B256;
use plugin_api::{HostError, HostErrorCode, Query, Tx, Wei, sql};
use serde::Deserialize;

/// Rows that are kept: a reorganisation that reaches below the last of them starts the count again.
const ROWS_MAX: i64 = 256;

#[derive(Deserialize)]
struct BurnRow {
    block: u64,
    hash: String,
    burned_wei: Wei,
}

/// The last position of the count that began at `origin`.
pub async fn newest(db: &impl Query, origin: &str) -> Result<Option<Position>, HostError> {
    let select = "SELECT block, hash, burned_wei FROM supply_burns WHERE origin = $1 ORDER BY block DESC LIMIT 1";
    let row: Option<BurnRow> = db.row(sql(select).bind(origin)).await?;
    row.map(|BurnRow { block, hash, burned_wei }| {
        let hash: B256 = hash.parse().map_err(|_: alloy_primitives::hex::FromHexError| {
            HostError::new(HostErrorCode::Internal, format!("supply_burns: `{hash}` is no hash"))
        })?;
        Ok(Position { block, hash, burned: burned_wei })
    })
    .transpose()
}

/// Records that the count is at `to`, which follows from `from`. False when it is somewhere else now: another gateway counts,
/// too, or found that `from` has left the chain.
pub async fn advance(tx: &Tx, origin: &str, from: Option<&Position>, to: &Position) -> Result<bool, HostError> {
    if newest(tx, origin).await?.as_ref() != from {
        return Ok(false);
    }
    let insert = sql("INSERT INTO supply_burns (origin, block, hash, burned_wei) VALUES ($1, $2, $3, $4)");
    tx.execute(insert.bind((origin, to.block, to.hash.to_string(), to.burned))).await?;
    let prune = sql("DELETE FROM supply_burns WHERE origin = $1 AND block < (SELECT min(block) FROM \
         (SELECT block FROM supply_burns WHERE origin = $1 ORDER BY block DESC LIMIT $2) AS kept)");
    tx.execute(prune.bind((origin, ROWS_MAX))).await?;
    Ok(true)
}

/// Forgets the positions from this block on, because it has left the chain.
pub async fn forget_from(tx: &Tx, origin: &str, block: u64) -> Result<(), HostError> {
    let delete = sql("DELETE FROM supply_burns WHERE origin = $1 AND block >= $2");
    tx.execute(delete.bind((origin, block))).await.map(drop)
}
