//! The last complete snapshot.

use crate::model::Snapshot;
use plugin_api::{HostError, HostErrorCode, Query, Sql, Tx, sql};

/// Key of the only row.
pub const ROW: i64 = 1;

/// Replaces the snapshot, whatever its time: a clock may have been set back.
pub async fn put_snapshot(tx: &Tx, snapshot: &Snapshot) -> Result<(), HostError> {
    let json = serde_json::to_string(snapshot).map_err(invalid)?;
    let upsert = Sql::upsert("supply_snapshots", "id", "computed_at_ms, snapshot");
    tx.execute(upsert.bind((ROW, snapshot.computed_at, json))).await.map(drop)
}

pub async fn snapshot(db: &impl Query) -> Result<Option<Snapshot>, HostError> {
    let json: Option<String> = db.row(sql("SELECT snapshot FROM supply_snapshots WHERE id = $1").bind(ROW)).await?;
    json.map(|json| serde_json::from_str(&json).map_err(invalid)).transpose()
}

pub fn invalid(error: serde_json::Error) -> HostError {
    HostError::new(HostErrorCode::Internal, format!("a stored snapshot: {error}"))
}
