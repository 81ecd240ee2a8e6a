//! What the venue said last.

use super::snapshots::{ROW, invalid};
use crate::model::MarketReading;
use plugin_api::{HostError, Query, Sql, Tx, sql};

/// Replaces the reading.
pub async fn put_market(tx: &Tx, reading: &MarketReading) -> Result<(), HostError> {
    let json = serde_json::to_string(reading).map_err(invalid)?;
    let upsert = Sql::upsert("supply_market", "id", "read_at_ms, reading");
    tx.execute(upsert.bind((ROW, reading.read_at, json))).await.map(drop)
}

/// One that does not parse, such as one of another version, is none: the next one replaces it.
pub async fn market(db: &impl Query) -> Result<Option<MarketReading>, HostError> {
    let json: Option<String> = db.row(sql("SELECT reading FROM supply_market WHERE id = $1").bind(ROW)).await?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
}
