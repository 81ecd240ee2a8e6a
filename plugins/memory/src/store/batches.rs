//! Batches: those that were built here, and roots of others that the chain has.
//!
//! The rule: whether a batch is anchored, and after which root, follows from `memory_anchors` when it is read, so that a
//! reorganisation of the chain changes it back.

use super::{heads, records};
use crate::model::{BatchStatus, BatchView, LogView};
use plugin_api::{
    Address, AgentId, Hash256, HostError, List, Query, Sql, Tx,
    handles::{Cell, StatementResult},
    sql,
};
use serde::Deserialize;

/// Ids of roots that were not built here begin after this one.
macro_rules! foreign_ids {
    () => {
        "1099511627776"
    };
}

/// All batches decode as [`BatchView`]s.
const BATCHES: List = List::new(
    concat!(
        "(SELECT o.id AS batch_id, o.agent_id, o.address, o.root, coalesce(a.prev_root, (SELECT h.root FROM memory_anchors h \
          WHERE h.agent_id = o.agent_id ORDER BY h.seq DESC LIMIT 1), \
          '0x0000000000000000000000000000000000000000000000000000000000000000') AS prev_root, coalesce(a.uri, o.uri) AS uri, \
          CASE WHEN a.seq IS NOT NULL THEN 'anchored' WHEN o.submitted_at IS NOT NULL THEN 'submitted' ELSE 'built' END \
          AS status, o.to_seq - o.from_seq + 1 AS record_count, o.from_seq, o.to_seq, a.seq AS onchain_seq, a.total_records, \
          a.block, a.anchored_by, coalesce(a.tx, o.tx) AS tx, o.created_at, o.submitted_at, a.anchored_at \
          FROM memory_batches o LEFT JOIN memory_anchors a ON a.agent_id = o.agent_id AND a.root = o.root AND a.seq = \
          (SELECT max(x.seq) FROM memory_anchors x WHERE x.agent_id = o.agent_id AND x.root = o.root) \
          UNION ALL SELECT ",
        foreign_ids!(),
        " + f.nth, f.agent_id, cast(NULL AS TEXT), f.root, f.prev_root, f.uri, 'anchored', f.record_count, \
          cast(0 AS BIGINT), cast(0 AS BIGINT), f.seq, f.total_records, f.block, f.anchored_by, f.tx, f.anchored_at, \
          cast(NULL AS BIGINT), f.anchored_at FROM memory_anchors f WHERE NOT EXISTS (SELECT 1 FROM memory_batches o \
          WHERE o.agent_id = f.agent_id AND o.root = f.root)) b"
    ),
    "b.batch_id, b.agent_id, b.address, b.root, b.prev_root, b.uri, b.status, b.record_count AS count, b.from_seq, b.to_seq, \
     b.onchain_seq, b.total_records, b.block, b.anchored_by, b.tx, b.created_at, b.submitted_at, b.anchored_at",
)
.order_by("b.created_at DESC, b.batch_id DESC");

/// The newest first.
pub fn list(agent: Option<AgentId>, address: Option<Address>, status: Option<BatchStatus>) -> List {
    BATCHES.filter("b.agent_id = {}", agent).filter("b.address = {}", address).filter("b.status = {}", status)
}

/// The agent's batches of records of this address, the newest first.
fn own(agent: AgentId, address: Address) -> List {
    list(Some(agent), Some(address), None)
}

/// The newest that is not anchored.
pub async fn unanchored(db: &impl Query, agent: AgentId, address: Address) -> Result<Option<BatchView>, HostError> {
    let unanchored = own(agent, address).filter_if(true, "b.status <> 'anchored'");
    Ok(unanchored.first(1).rows(db).await?.pop())
}

pub async fn with_root(
    db: &impl Query,
    agent: AgentId,
    address: Address,
    root: Hash256,
) -> Result<Option<BatchView>, HostError> {
    Ok(own(agent, address).filter("b.root = {}", Some(root)).first(1).rows(db).await?.pop())
}

/// The batch with this record.
pub async fn with_record(
    db: &impl Query,
    agent: AgentId,
    address: Address,
    seq: i64,
) -> Result<Option<BatchView>, HostError> {
    let with_record = own(agent, address).filter("b.from_seq <= {}", Some(seq)).filter("b.to_seq >= {}", Some(seq));
    Ok(with_record.first(1).rows(db).await?.pop())
}

/// The first record that is in no batch of the agent.
pub async fn next_seq(db: &impl Query, agent: AgentId, address: Address) -> Result<i64, HostError> {
    let next = sql("SELECT coalesce(max(to_seq), 0) + 1 FROM memory_batches WHERE agent_id = $1 AND address = $2");
    db.one(next.bind((agent, address))).await
}

/// A batch that is to be stored.
pub struct NewBatch {
    pub agent: AgentId,
    pub address: Address,
    pub from_seq: i64,
    pub to_seq: i64,
    pub root: Hash256,
    pub uri: String,
    /// The nodes.
    pub tree: Vec<u8>,
}

pub async fn insert(tx: &Tx, batch: &NewBatch) -> Result<(), HostError> {
    let insert = sql("INSERT INTO memory_batches (agent_id, address, from_seq, to_seq, root, uri, created_at, tree) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
    let NewBatch { agent, address, from_seq, to_seq, root, uri, tree } = batch;
    let bound = insert.bind((agent, address, from_seq, to_seq, root, uri, tx.now_s(), &tree[..]));
    tx.execute(bound).await.map(drop)
}

/// Notes the transaction that its owner names.
pub fn submit(batch_id: i64, transaction: Hash256, now_s: i64) -> Sql {
    sql("UPDATE memory_batches SET tx = $2, submitted_at = $3 WHERE id = $1").bind((batch_id, transaction, now_s))
}

/// The nodes of a batch's tree, in the database's buffer.
pub struct StoredTree(StatementResult);

impl AsRef<[u8]> for StoredTree {
    fn as_ref(&self) -> &[u8] {
        match self.0.rows.cells().ok().and_then(Iterator::last) {
            Some(Ok(Cell::Blob(bytes))) => bytes,
            _ => &[],
        }
    }
}

pub async fn tree(db: &impl Query, batch_id: i64) -> Result<StoredTree, HostError> {
    db.run(sql("SELECT tree FROM memory_batches WHERE id = $1").bind(batch_id)).await.map(StoredTree)
}

/// The log of the address, and how much of it the agent anchored.
pub async fn log(db: &impl Query, agent: AgentId, address: Address) -> Result<LogView, HostError> {
    #[derive(Deserialize)]
    struct LastAnchor {
        to_seq: i64,
        root: Hash256,
        tx: Hash256,
        seq: i64,
        anchored_at: i64,
    }
    let head = heads::read(db, address).await?;
    let last = sql("SELECT b.to_seq, a.root, a.tx, a.seq, a.anchored_at FROM memory_batches b \
         JOIN memory_anchors a ON a.agent_id = b.agent_id AND a.root = b.root WHERE b.agent_id = $1 AND b.address = $2 \
         ORDER BY b.to_seq DESC, a.seq DESC LIMIT 1");
    let last: Option<LastAnchor> = db.row(last.bind((agent, address))).await?;
    let anchored_through_seq = last.as_ref().map_or(0, |last| last.to_seq);
    let last = last.as_ref();
    Ok(LogView {
        address,
        seq: head.seq,
        head_hash: head.head_hash,
        last_write_at: head.last_write_at,
        unanchored: head.seq - anchored_through_seq,
        anchored_through_seq,
        last_root: last.map(|last| last.root),
        last_anchor_tx: last.map(|last| last.tx),
        last_anchor_seq: last.map(|last| last.seq),
        last_anchored_at: last.map(|last| last.anchored_at),
    })
}

/// Hashes of the records that a new batch takes, from the first that is in no batch on.
pub async fn next_hashes(
    db: &impl Query,
    agent: AgentId,
    address: Address,
    limit: u32,
) -> Result<(i64, Vec<Hash256>), HostError> {
    let from = next_seq(db, agent, address).await?;
    Ok((from, records::hashes_from(db, address, from, limit).await?))
}
