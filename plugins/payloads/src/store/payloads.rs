//! Payloads: inserts, renewals, reads and totals.

use crate::model::DAY_S;
use plugin_api::{Hash256, HostError, Query, Sql, Tx, handles, sql};
use serde::Deserialize;

/// Bytes to be stored.
pub struct Upload {
    pub hash: Hash256,
    pub bytes: handles::FfiBytes,
    pub content_type: String,
    pub client: String,
}

impl Upload {
    fn size(&self) -> i64 {
        i64::try_from(self.bytes.len()).unwrap_or(i64::MAX)
    }
}

/// In bytes.
#[derive(Clone, Copy)]
pub struct Limits {
    pub total: i64,
    /// New bytes per client and day.
    pub client: i64,
}

/// Whether these bytes are stored and were used since that second.
pub async fn is_stored_since(db: &impl Query, hash: Hash256, since_s: i64) -> Result<bool, HostError> {
    let kept = sql("SELECT size FROM payloads_payloads WHERE hash = $1 AND named_at >= $2 AND given_up_at IS NULL");
    Ok(db.row::<i64>(kept.bind((hash, since_s))).await?.is_some())
}

/// Restarts the time that a payload stays without references. Changes no row when it is not stored.
pub fn renew(hash: Hash256, now_s: i64) -> Sql {
    sql("UPDATE payloads_payloads SET named_at = $2, given_up_at = NULL WHERE hash = $1").bind((hash, now_s))
}

/// Counts new bytes; returns whether they fit into the client's day and into the store. When they do not, the caller must roll
/// back the transaction. A single payload fits into an empty day and store: the configuration is checked for it.
pub async fn count(tx: &Tx, upload: &Upload, limits: Limits) -> Result<[bool; 2], HostError> {
    // Days since 1970-01-01, UTC.
    let (day, size) = (tx.now_s().div_euclid(DAY_S), upload.size());
    let count_client = sql("INSERT INTO payloads_uploads (day, client, bytes) VALUES ($1, $2, $3) \
         ON CONFLICT (day, client) DO UPDATE SET bytes = payloads_uploads.bytes + excluded.bytes \
         WHERE payloads_uploads.bytes + excluded.bytes <= $4")
    .bind((day, &upload.client, size, limits.client));
    let count_total =
        sql("UPDATE payloads_totals SET payloads = payloads + 1, bytes = bytes + $1 WHERE id = 1 AND bytes + $1 <= $2")
            .bind((size, limits.total));
    Ok(tx.run_all([count_client, count_total]).await?.map(|counted| counted.changes > 0))
}

pub async fn insert(tx: &Tx, upload: &Upload) -> Result<(), HostError> {
    let insert = sql("INSERT INTO payloads_payloads (hash, size, content_type, created_at, named_at, bytes) \
            VALUES ($1, $2, $3, $4, $4, $5)")
    .bind((upload.hash, upload.size(), &upload.content_type, tx.now_s(), &upload.bytes[..]));
    tx.execute(insert).await.map(drop)
}

/// The bytes of a row, sent to the client from the database's buffer without a copy.
pub struct StoredBytes(handles::StatementResult);

impl AsRef<[u8]> for StoredBytes {
    fn as_ref(&self) -> &[u8] {
        match self.0.rows.cells().ok().and_then(Iterator::last) {
            Some(Ok(handles::Cell::Blob(bytes))) => bytes,
            _ => &[],
        }
    }
}

/// The stored content type and the bytes.
pub async fn read(db: &impl Query, hash: Hash256) -> Result<Option<(String, StoredBytes)>, HostError> {
    let read = sql("SELECT content_type, bytes FROM payloads_payloads WHERE hash = $1").bind(hash);
    let outcome = db.run(read).await?;
    let content_type: Option<(String,)> = outcome.first()?;
    Ok(content_type.map(|(content_type,)| (content_type, StoredBytes(outcome))))
}

#[derive(Deserialize)]
pub struct Totals {
    pub payloads: i64,
    pub bytes: i64,
    /// Names of the plugins that pruning waits for, separated by commas.
    pub waits_for: String,
}

pub async fn totals(db: &impl Query) -> Result<Totals, HostError> {
    db.one(sql("SELECT payloads, bytes, waits_for FROM payloads_totals WHERE id = 1")).await
}
