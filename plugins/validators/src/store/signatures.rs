//! Used signatures.

use plugin_api::{HostError, Tx, sql};

/// Longer than any challenge is valid.
const RETENTION_S: i64 = 3600;

/// Marks the signature as used; returns whether it was unused. Its last byte has several encodings and is ignored.
pub async fn mark_used(tx: &Tx, signature: &str, now_s: i64) -> Result<bool, HostError> {
    tx.execute(sql("DELETE FROM validators_signatures WHERE used_at < $1").bind(now_s - RETENTION_S)).await?;
    let insert = sql("INSERT INTO validators_signatures (signature, used_at) VALUES ($1, $2) ON CONFLICT DO NOTHING");
    let key = signature.get(..signature.len().saturating_sub(2)).unwrap_or(signature);
    Ok(tx.execute(insert.bind(key).bind(now_s)).await? == 1)
}
