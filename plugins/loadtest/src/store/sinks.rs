//! What went to the sink.

use plugin_api::{Hash256, HostError, Query, Tx, Wei, sql};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
pub struct SinkRow {
    pub hash: Hash256,
    pub value_wei: Wei,
    pub mined_at: i64,
    pub block: i64,
}

pub async fn insert(tx: &Tx, row: &SinkRow) -> Result<(), HostError> {
    let insert = sql("INSERT INTO loadtest_sinks (hash, value_wei, mined_at, block) VALUES ($1, $2, $3, $4)");
    tx.execute(insert.bind((row.hash, row.value_wei, row.mined_at, row.block))).await.map(drop)
}

/// The newest twenty, newest first.
pub async fn newest(db: &impl Query) -> Result<Vec<SinkRow>, HostError> {
    db.rows(sql("SELECT hash, value_wei, mined_at, block FROM loadtest_sinks ORDER BY block DESC, hash LIMIT 20")).await
}
