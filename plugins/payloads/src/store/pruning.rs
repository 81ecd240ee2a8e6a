//! Reads and writes of the pruning job.

use plugin_api::{Hash256, HostError, Query, Sql, Tx, sql};
use std::collections::BTreeSet;

/// Payloads that were marked for deletion until that second, the longest wait first.
pub async fn marked(db: &impl Query, until_s: i64, limit: u32) -> Result<Vec<Hash256>, HostError> {
    let marked = sql("SELECT hash FROM payloads_payloads WHERE given_up_at <= $1 ORDER BY given_up_at, hash LIMIT $2");
    db.rows(marked.bind((until_s, limit))).await
}

/// Payloads that were not used since that second and are not marked for deletion.
pub async fn unreferenced(db: &impl Query, until_s: i64, limit: u32) -> Result<Vec<Hash256>, HostError> {
    // `+` makes SQLite find them by the time: nearly all are not marked.
    let unreferenced = sql("SELECT hash FROM payloads_payloads WHERE named_at <= $1 AND +given_up_at IS NULL \
            ORDER BY named_at, hash LIMIT $2");
    db.rows(unreferenced.bind((until_s, limit))).await
}

/// Marks the payload for deletion unless it was used after that second.
pub fn mark_for_deletion(hash: Hash256, unreferenced_until_s: i64, now_s: i64) -> Sql {
    sql("UPDATE payloads_payloads SET given_up_at = $3 WHERE hash = $1 AND named_at <= $2 AND given_up_at IS NULL")
        .bind((hash, unreferenced_until_s, now_s))
}

/// Deletes those that are still marked for deletion; returns their number.
pub async fn delete(tx: &Tx, hashes: &[Hash256], marked_until_s: i64) -> Result<i64, HostError> {
    let delete = "DELETE FROM payloads_payloads WHERE hash = $1 AND given_up_at <= $2 RETURNING size";
    let statements = hashes.iter().map(|hash| sql(delete).bind((hash, marked_until_s))).collect();
    let (mut deleted, mut bytes) = (0, 0);
    for outcome in tx.batch(statements).await? {
        for size in outcome.all::<i64>()? {
            deleted += 1;
            bytes += size;
        }
    }
    let subtract = sql("UPDATE payloads_totals SET payloads = payloads - $1, bytes = bytes - $2 WHERE id = 1");
    tx.execute(subtract.bind((deleted, bytes))).await?;
    Ok(deleted)
}

/// Plugins that ever reported references.
pub async fn referencing_plugins(db: &impl Query) -> Result<BTreeSet<String>, HostError> {
    Ok(db.rows::<String>(sql("SELECT plugin FROM payloads_witnesses")).await?.into_iter().collect())
}

/// Notes the plugins that pruning waits for, separated by commas.
pub fn set_waits_for(plugins: &str) -> Sql {
    sql("UPDATE payloads_totals SET waits_for = $1 WHERE id = 1 AND waits_for <> $1").bind(plugins)
}

pub fn add_referencing_plugin(plugin: &str) -> Sql {
    sql("INSERT INTO payloads_witnesses (plugin) VALUES ($1) ON CONFLICT (plugin) DO NOTHING").bind(plugin)
}

pub fn delete_uploads_before(day: i64) -> Sql {
    sql("DELETE FROM payloads_uploads WHERE day < $1").bind(day)
}
