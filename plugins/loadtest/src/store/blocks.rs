//! The newest blocks. The rule: their rows are one branch, each the parent of the next, and what is counted is final.

use crate::model::TotalsByKind;
use plugin_api::{Hash256, HostError, Query, Tx, sql};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct BlockRow {
    pub number: i64,
    pub hash: Hash256,
    pub mined_at: i64,
    pub transactions: i64,
    pub labelled: i64,
    pub kinds: String,
    pub is_counted: i64,
}

const COLUMNS: &str = "number, hash, mined_at, transactions, labelled, kinds, is_counted";

/// The newest block that was followed.
pub async fn last(db: &impl Query) -> Result<Option<BlockRow>, HostError> {
    db.row(sql(format!("SELECT {COLUMNS} FROM loadtest_blocks ORDER BY number DESC LIMIT 1"))).await
}

/// The hash of a block that was followed and is not forgotten.
pub async fn hash(db: &impl Query, number: i64) -> Result<Option<Hash256>, HostError> {
    db.row(sql("SELECT hash FROM loadtest_blocks WHERE number = $1").bind(number)).await
}

/// Blocks up to this one that are not counted yet, oldest first.
pub async fn uncounted(db: &impl Query, final_block: i64, limit: u32) -> Result<Vec<BlockRow>, HostError> {
    let text =
        format!("SELECT {COLUMNS} FROM loadtest_blocks WHERE is_counted = 0 AND number <= $1 ORDER BY number LIMIT $2");
    db.rows(sql(text).bind((final_block, limit))).await
}

pub async fn insert(tx: &Tx, block: &BlockRow) -> Result<(), HostError> {
    let insert =
        sql("INSERT INTO loadtest_blocks (number, hash, mined_at, transactions, labelled, kinds, is_counted) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)");
    let numbers = (block.number, block.hash, block.mined_at, block.transactions, block.labelled);
    tx.execute(insert.bind(numbers).bind((block.kinds.as_str(), block.is_counted))).await.map(drop)
}

/// Forgets a block that is no longer in the chain.
pub async fn remove(tx: &Tx, number: i64) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM loadtest_blocks WHERE number = $1").bind(number)).await.map(drop)
}

/// Marks a block as counted and deletes those before it. False when another gateway counted it.
pub async fn set_counted(tx: &Tx, number: i64) -> Result<bool, HostError> {
    let update = sql("UPDATE loadtest_blocks SET is_counted = 1 WHERE number = $1 AND is_counted = 0").bind(number);
    if tx.execute(update).await? == 0 {
        return Ok(false);
    }
    tx.execute(sql("DELETE FROM loadtest_blocks WHERE number < $1 AND is_counted = 1").bind(number)).await?;
    Ok(true)
}

impl BlockRow {
    pub fn tally(&self) -> TotalsByKind {
        serde_json::from_str(&self.kinds).unwrap_or_default()
    }
}
