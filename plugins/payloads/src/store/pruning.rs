//! Reads and writes of the pruning job.

use super::totals;
use plugin_api::{Hash256, HostError, Query, Sql, Tx, sql};
use std::collections::BTreeSet;

/// Payloads that were condemned until that second, the longest wait first.
pub async fn given_up(db: &impl Query, until_s: i64, limit: u32) -> Result<Vec<Hash256>, HostError> {
    let given_up =
        sql("SELECT hash FROM payloads_payloads WHERE given_up_at <= $1 ORDER BY given_up_at, hash LIMIT $2");
    db.rows(given_up.bind(until_s).bind(limit)).await
}

/// Payloads that were not used since that second and are not condemned.
pub async fn unnamed(db: &impl Query, until_s: i64, limit: u32) -> Result<Vec<Hash256>, HostError> {
    let unnamed = sql("SELECT hash FROM payloads_payloads WHERE named_at <= $1 AND given_up_at IS NULL \
            ORDER BY named_at, hash LIMIT $2");
    db.rows(unnamed.bind(until_s).bind(limit)).await
}

/// Whether one of them was due before that second.
pub async fn is_late(db: &impl Query, named_until_s: i64, given_up_until_s: i64) -> Result<bool, HostError> {
    let late = !unnamed(db, named_until_s, 1).await?.is_empty();
    Ok(late || !given_up(db, given_up_until_s, 1).await?.is_empty())
}

pub fn keep(hash: Hash256, now_s: i64) -> Sql {
    sql("UPDATE payloads_payloads SET named_at = $2, given_up_at = NULL WHERE hash = $1").bind(hash).bind(now_s)
}

/// Condemns the payload unless it was used after that second.
pub fn give_up(hash: Hash256, unnamed_until_s: i64, now_s: i64) -> Sql {
    sql("UPDATE payloads_payloads SET given_up_at = $3 WHERE hash = $1 AND named_at <= $2 AND given_up_at IS NULL")
        .bind(hash)
        .bind(unnamed_until_s)
        .bind(now_s)
}

/// Deletes those that are still condemned.
pub async fn delete(tx: &Tx, hashes: &[Hash256], given_up_until_s: i64) -> Result<i64, HostError> {
    let delete = "DELETE FROM payloads_payloads WHERE hash = $1 AND given_up_at <= $2 RETURNING size";
    let statements = hashes.iter().map(|hash| sql(delete).bind(*hash).bind(given_up_until_s)).collect();
    let (mut deleted, mut bytes) = (0, 0);
    for outcome in tx.batch(statements).await? {
        for size in outcome.all::<i64>()? {
            deleted += 1;
            bytes += size;
        }
    }
    totals::count_off(tx, deleted, bytes).await?;
    Ok(deleted)
}

/// Plugins that ever reported references.
pub async fn witnesses(db: &impl Query) -> Result<BTreeSet<String>, HostError> {
    Ok(db.rows::<String>(sql("SELECT plugin FROM payloads_witnesses")).await?.into_iter().collect())
}

pub fn remember_witness(plugin: &str) -> Sql {
    sql("INSERT INTO payloads_witnesses (plugin) VALUES ($1) ON CONFLICT (plugin) DO NOTHING").bind(plugin)
}

pub fn forget_uploads_before(day: i64) -> Sql {
    sql("DELETE FROM payloads_uploads WHERE day < $1").bind(day)
}
