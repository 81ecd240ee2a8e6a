//! Payloads: inserts, renewals and reads.

use plugin_api::{Cell, Hash256, HostError, Query, Sql, StatementResult, Tx, sql};
use serde::Deserialize;

/// Bytes to be stored.
pub struct Upload {
    pub hash: Hash256,
    pub bytes: Vec<u8>,
    pub content_type: String,
    pub client: String,
    /// Days since 1970-01-01, UTC.
    pub day: i64,
}

/// In bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub total: i64,
    /// New bytes per client and day.
    pub client: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Stored,
    DailyBytes,
    Full,
}

/// Whether these bytes are stored and were used since that second.
pub async fn is_stored_since(db: &impl Query, hash: Hash256, since_s: i64) -> Result<bool, HostError> {
    let kept = sql("SELECT size FROM payloads_payloads WHERE hash = $1 AND named_at >= $2 AND given_up_at IS NULL");
    Ok(db.row::<i64>(kept.bind(hash).bind(since_s)).await?.is_some())
}

/// Restarts the time that a payload stays without references; returns whether it exists.
pub async fn renew(tx: &Tx, hash: Hash256, now_s: i64) -> Result<bool, HostError> {
    let update = sql("UPDATE payloads_payloads SET named_at = $2, given_up_at = NULL WHERE hash = $1");
    Ok(tx.execute(update.bind(hash).bind(now_s)).await? > 0)
}

/// Stores new bytes. When it returns that they do not fit, the caller must roll back the transaction.
pub async fn insert(tx: &Tx, upload: Upload, limits: Limits, now_s: i64) -> Result<InsertOutcome, HostError> {
    let size = i64::try_from(upload.bytes.len()).unwrap_or(i64::MAX);
    let counted = vec![count_client(&upload, size, limits.client), count_total(size, limits.total)];
    let counted = tx.batch(counted).await?;
    let has_room = |place: usize| counted.get(place).is_some_and(|outcome| outcome.changes > 0);
    if !has_room(0) {
        return Ok(InsertOutcome::DailyBytes);
    }
    if !has_room(1) {
        return Ok(InsertOutcome::Full);
    }
    let insert = sql("INSERT INTO payloads_payloads (hash, size, content_type, created_at, named_at, bytes) \
            VALUES ($1, $2, $3, $4, $4, $5)")
    .bind(upload.hash)
    .bind(size)
    .bind(upload.content_type)
    .bind(now_s)
    .bind(upload.bytes);
    tx.execute(insert).await?;
    Ok(InsertOutcome::Stored)
}

/// Changes no row when the client's daily limit is exceeded. A single payload always fits: the configuration is checked for it.
fn count_client(upload: &Upload, size: i64, limit: i64) -> Sql {
    sql("INSERT INTO payloads_uploads (day, client, bytes) VALUES ($1, $2, $3) \
         ON CONFLICT (day, client) DO UPDATE SET bytes = payloads_uploads.bytes + excluded.bytes \
         WHERE payloads_uploads.bytes + excluded.bytes <= $4")
    .bind(upload.day)
    .bind(&upload.client)
    .bind(size)
    .bind(limit)
}

/// Changes no row when the store is full.
fn count_total(size: i64, limit: i64) -> Sql {
    sql("UPDATE payloads_totals SET payloads = payloads + 1, bytes = bytes + $1 WHERE id = 1 AND bytes + $1 <= $2")
        .bind(size)
        .bind(limit)
}

/// The bytes of a row, sent to the client from the database's buffer without a copy.
pub struct StoredBytes(StatementResult);

impl AsRef<[u8]> for StoredBytes {
    fn as_ref(&self) -> &[u8] {
        match self.0.rows.cells().ok().and_then(Iterator::last) {
            Some(Ok(Cell::Blob(bytes))) => bytes,
            _ => &[],
        }
    }
}

#[derive(Deserialize)]
struct PayloadRow {
    content_type: String,
}

/// The bytes and their stored content type.
pub async fn read(db: &impl Query, hash: Hash256) -> Result<Option<(String, StoredBytes)>, HostError> {
    let read = sql("SELECT content_type, bytes FROM payloads_payloads WHERE hash = $1").bind(hash);
    let outcome = db.run(read).await?;
    let row = outcome.first::<PayloadRow>()?;
    Ok(row.map(|row| (row.content_type, StoredBytes(outcome))))
}
