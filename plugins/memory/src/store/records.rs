//! The log: one record for each write. Rule: appended in the transaction of the write, never changed.

use super::{drafts::Draft, heads, limits, sealed};
use crate::model::{HeaderDraft, RecordHeader, RecordReceipt};
use plugin_api::{Address, Hash256, HostError, HostErrorCode, HostHandle, Query, Sql, Tx, json_text, sql};
use serde::Deserialize;

/// A row without its key.
#[derive(Deserialize)]
pub struct RecordRow {
    pub record_hash: Hash256,
    pub record: String,
}

pub fn header_of(record: &str) -> Result<RecordHeader, HostError> {
    let broken = |_shape| HostError::new(HostErrorCode::Internal, "a record has another shape");
    serde_json::from_str(record).map_err(broken)
}

/// A row that its owner reads.
#[derive(Deserialize)]
pub struct OwnRecordRow {
    pub record_hash: Hash256,
    pub record: String,
    pub sealed_key: Vec<u8>,
}

/// How a write changes what its owner has.
#[derive(Clone, Copy)]
pub struct Change {
    pub value_bytes: i64,
    pub keys: i64,
}

/// Appends the record of a write. Returns it, and the head with the write in it; the statements run with the next one or the commit.
pub fn append(
    tx: &Tx,
    draft: &Draft,
    head: &heads::Head,
    change: Change,
) -> Result<(RecordReceipt, heads::Head), HostError> {
    let now_s = tx.now_s();
    let header = draft.header.after(head.seq, head.head_hash, now_s);
    let record = header.to_string();
    let record_hash = HeaderDraft::hash_of(&record);
    let next = heads::Head {
        seq: header.seq,
        head_hash: record_hash,
        used_bytes: head.used_bytes + change.value_bytes,
        key_count: head.key_count + change.keys,
        last_write_at: Some(now_s),
    };
    let insert = sql("INSERT INTO memory_records (address, seq, record_hash, record, key_id, sealed_key) \
         VALUES ($1, $2, $3, $4, $5, $6)");
    let values = (draft.owner, header.seq, record_hash, record, &draft.key_id, &draft.sealed_key[..]);
    tx.defer(insert.bind(values))?;
    tx.defer(heads::store(draft.owner, &next))?;
    tx.defer(limits::count(draft.owner, change.value_bytes))?;
    Ok((RecordReceipt::new(&header, record_hash, draft.key_nonce.clone()), next))
}

pub async fn find(db: &impl Query, owner: Address, seq: i64) -> Result<Option<RecordRow>, HostError> {
    let find = sql("SELECT record_hash, record FROM memory_records WHERE address = $1 AND seq = $2");
    db.row(find.bind((owner, seq))).await
}

/// Hashes of the records from this number on, in their order.
pub async fn hashes_from(db: &impl Query, owner: Address, seq: i64, limit: u32) -> Result<Vec<Hash256>, HostError> {
    let hashes = sql("SELECT record_hash FROM memory_records WHERE address = $1 AND seq >= $2 ORDER BY seq LIMIT $3");
    db.rows(hashes.bind((owner, seq, limit))).await
}

/// Records with their keys, in their order.
pub async fn own(db: &impl Query, owner: Address, from: i64, to: i64) -> Result<Vec<OwnRecordRow>, HostError> {
    let own = sql("SELECT record_hash, record, sealed_key FROM memory_records \
         WHERE address = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq");
    db.rows(own.bind((owner, from, to))).await
}

/// A record whose key another master key sealed.
#[derive(Deserialize)]
pub struct StaleRecord {
    pub address: Address,
    pub seq: i64,
    key_id: String,
    #[serde(deserialize_with = "json_text")]
    record: RecordHeader,
    sealed_key: Vec<u8>,
}

/// Those after this one.
pub async fn stale(
    db: &impl Query,
    key_id: &str,
    after: (&str, i64),
    limit: u32,
) -> Result<Vec<StaleRecord>, HostError> {
    let stale = sql("SELECT address, seq, key_id, record, sealed_key FROM memory_records \
         WHERE (key_id < $1 OR key_id > $1) AND (address, seq) > ($2, $3) ORDER BY address, seq LIMIT $4");
    db.rows(stale.bind((key_id, after.0, after.1, limit))).await
}

impl StaleRecord {
    /// The statement that stores it sealed with the newest key.
    pub async fn resealed(&self, host: &HostHandle, key_id: &str) -> Result<Sql, HostError> {
        let resealed = sealed::reseal_reveal(host, self.address, self.record.key_commit, &self.sealed_key).await?;
        let sealed_key = resealed.unwrap_or_else(|| self.sealed_key.clone());
        let update = sql("UPDATE memory_records SET key_id = $4, sealed_key = $5 \
             WHERE address = $1 AND seq = $2 AND key_id = $3");
        Ok(update.bind((self.address, self.seq, &self.key_id, key_id, sealed_key)))
    }
}
