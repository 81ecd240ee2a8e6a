//! The table of presence.

use crate::model::{IDLE_S, TTL_S};
use plugin_api::{Address, HostError, List, Query as _, Tx, sql};
use serde::Deserialize;

#[derive(Deserialize)]
pub struct PresenceRow {
    pub address: Address,
    pub status: String,
    pub last_ping: i64,
    pub since: i64,
}

/// The latest ping first. `lower`: the databases order mixed case differently. Its rows decode as [`PresenceRow`]s.
const PRESENCE: List =
    List::new("activity_presence", "address, status, last_ping, since").order_by("last_ping DESC, lower(address)");

/// Addresses whose ping lasts at that second.
pub fn online(now_s: i64) -> List {
    PRESENCE.filter("last_ping >= {}", Some(now_s - TTL_S))
}

/// Stores a ping. After a day without one a new stay begins, whether or not the idle row still exists.
pub async fn ping(tx: &Tx, address: Address, status: &str) -> Result<PresenceRow, HostError> {
    let last_ping = tx.now_s();
    let upsert = sql("INSERT INTO activity_presence (address, status, last_ping, since) VALUES ($1, $2, $3, $3) \
         ON CONFLICT (address) DO UPDATE SET status = excluded.status, last_ping = excluded.last_ping, \
         since = CASE WHEN activity_presence.last_ping <= $4 THEN excluded.since ELSE activity_presence.since END \
         RETURNING since")
    .bind((address, status, last_ping, last_ping - IDLE_S));
    let since = tx.one(upsert).await?;
    Ok(PresenceRow { address, status: status.to_owned(), last_ping, since })
}

/// Deletes addresses that have not pinged for a day.
pub async fn delete_idle(tx: &Tx) -> Result<(), HostError> {
    let delete = sql("DELETE FROM activity_presence WHERE last_ping <= $1").bind(tx.now_s() - IDLE_S);
    tx.execute(delete).await.map(drop)
}
