//! Totals of all payloads, and the plugins that pruning waits for.

use plugin_api::{HostError, Query, Tx, sql};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Totals {
    pub payloads: i64,
    pub bytes: i64,
    /// Names of plugins, separated by commas.
    pub waits_for: String,
}

pub async fn read(db: &impl Query) -> Result<Totals, HostError> {
    db.one(sql("SELECT payloads, bytes, waits_for FROM payloads_totals WHERE id = 1")).await
}

/// Subtracts deleted payloads.
pub async fn subtract(tx: &Tx, payloads: i64, bytes: i64) -> Result<(), HostError> {
    let update = sql("UPDATE payloads_totals SET payloads = payloads - $1, bytes = bytes - $2 WHERE id = 1");
    tx.execute(update.bind(payloads).bind(bytes)).await.map(drop)
}

pub async fn set_waits_for(tx: &Tx, plugins: &str) -> Result<(), HostError> {
    let update = sql("UPDATE payloads_totals SET waits_for = $1 WHERE id = 1 AND waits_for <> $1").bind(plugins);
    tx.execute(update).await.map(drop)
}
