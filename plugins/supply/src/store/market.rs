//! What the venue said last.

use super::snapshots::invalid;
use crate::model::MarketReading;
use plugin_api::{HostError, Query, Tx, sql};

/// Replaces the reading.
pub async fn put_market(tx: &Tx, reading: &MarketReading) -> Result<(), HostError> {
    let json = serde_json::to_string(reading).map_err(invalid)?;
    let upsert =
        sql("INSERT INTO supply_market (id, read_at_ms, reading) VALUES (1, $1, $2) ON CONFLICT (id) DO UPDATE \
         SET read_at_ms = excluded.read_at_ms, reading = excluded.reading");
    tx.execute(upsert.bind((reading.read_at, json))).await.map(drop)
}

/// One that does not parse, such as one of another version, is none: the next one replaces it.
pub async fn market(db: &impl Query) -> Result<Option<MarketReading>, HostError> {
    let json: Option<String> = db.row(sql("SELECT reading FROM supply_market WHERE id = 1")).await?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
}
