//! Reads for an agent's record: its anchors, and the size of its owner's memory.

use plugin_api::{Address, AgentId, Hash256, HostError, Query, point::CvClaim, sql};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct RecordAnchor {
    pub seq: i64,
    pub root: Hash256,
    pub prev_root: Hash256,
    pub record_count: i64,
    pub total_records: i64,
    pub uri: String,
    pub tx: Hash256,
    pub block: i64,
    pub anchored_at: i64,
    /// Of the batch, when it was built here.
    pub from_seq: Option<i64>,
    pub to_seq: Option<i64>,
}

/// The newest first.
pub async fn anchors(db: &impl Query, agent: AgentId, limit: u32) -> Result<Vec<RecordAnchor>, HostError> {
    // A text of the chain has no bound: it is read up to where its claim is too large anyway.
    let select = sql(format!(
        "SELECT a.seq, a.root, a.prev_root, a.record_count, a.total_records, substr(a.uri, 1, {}) AS uri, a.tx, a.block, a.anchored_at, \
         b.from_seq, b.to_seq FROM memory_anchors a LEFT JOIN memory_batches b ON b.agent_id = a.agent_id AND b.root = a.root \
         WHERE a.agent_id = $1 ORDER BY a.seq DESC LIMIT $2",
        CvClaim::BYTES_MAX,
    ));
    db.rows(select.bind((agent, limit))).await
}

pub async fn anchor_count(db: &impl Query, agent: AgentId) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM memory_anchors WHERE agent_id = $1").bind(agent)).await
}

/// Keys, bytes and records of an address; zeros when it never wrote.
pub async fn size(db: &impl Query, owner: Address) -> Result<(i64, i64, i64), HostError> {
    let select = sql("SELECT key_count, used_bytes, seq FROM memory_heads WHERE address = $1").bind(owner);
    Ok(db.row(select).await?.unwrap_or_default())
}
