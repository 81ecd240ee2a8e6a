//! The table of presence.

use crate::model::IDLE_S;
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PresenceRow {
    pub address: Address,
    pub status: String,
    pub last_ping: i64,
    pub since: i64,
}

/// Stores a ping. After a day without one a new stay begins, whether or not the idle row still exists.
pub async fn ping(tx: &Tx, address: Address, status: String, now_s: i64) -> Result<PresenceRow, HostError> {
    let upsert = sql("INSERT INTO activity_presence (address, status, last_ping, since) VALUES ($1, $2, $3, $3) \
         ON CONFLICT (address) DO UPDATE SET status = excluded.status, last_ping = excluded.last_ping, \
         since = CASE WHEN activity_presence.last_ping <= $4 THEN excluded.since ELSE activity_presence.since END \
         RETURNING since")
    .bind(address)
    .bind(&status)
    .bind(now_s)
    .bind(now_s - IDLE_S);
    let since = tx.one(upsert).await?;
    Ok(PresenceRow { address, status, last_ping: now_s, since })
}

/// Addresses that pinged since that second, latest first. `lower`: the databases order mixed case differently.
pub async fn list(db: &impl Query, since_s: i64, limit: u32) -> Result<Vec<PresenceRow>, HostError> {
    let select = sql("SELECT address, status, last_ping, since FROM activity_presence WHERE last_ping >= $1 \
         ORDER BY last_ping DESC, lower(address) LIMIT $2");
    db.rows(select.bind(since_s).bind(limit)).await
}

pub async fn count(db: &impl Query, since_s: i64) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM activity_presence WHERE last_ping >= $1").bind(since_s)).await
}

/// Deletes addresses that have not pinged after that second; returns their number.
pub async fn delete_idle(tx: &Tx, idle_since_s: i64) -> Result<u64, HostError> {
    tx.execute(sql("DELETE FROM activity_presence WHERE last_ping <= $1").bind(idle_since_s)).await
}
