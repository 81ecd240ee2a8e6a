//! Anchors: the roots that the contract has, derived from its events.

use crate::model::{Anchored, ChainHead};
use plugin_api::{AgentId, HostError, Query, Sql, contracts::ChainEvent, sql};

pub const TABLE: &str = "memory_anchors";

pub fn insert(event: &ChainEvent<Anchored>) -> Sql {
    let Anchored { agent_id, seq, root, prev_root, count, total_records, anchored_by, uri } = &event.args;
    sql("INSERT INTO memory_anchors (agent_id, seq, nth, root, prev_root, record_count, total_records, anchored_by, uri, tx, \
         block, anchored_at) SELECT $1, $2, coalesce(max(nth), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10, $11 \
         FROM memory_anchors WHERE true ON CONFLICT (agent_id, seq) DO NOTHING")
    .bind((agent_id, seq, root, prev_root, count, total_records, anchored_by, uri))
    .bind((event.tx, event.block, event.time_s))
}

/// The newest anchor of the agent.
pub async fn head(db: &impl Query, agent: AgentId) -> Result<Option<ChainHead>, HostError> {
    let head = "SELECT root, seq, total_records, anchored_at FROM memory_anchors WHERE agent_id = $1 \
        ORDER BY seq DESC LIMIT 1";
    db.row(sql(head).bind(agent)).await
}

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    Ok(db.row(sql("SELECT row_count FROM memory_anchors_counts")).await?.unwrap_or_default())
}
