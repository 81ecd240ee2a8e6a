//! The picture of the graph. One row.

use plugin_api::{Hash256, HostError, Query, Sql, Tx, sql};

const ROW: i64 = 1;

/// The hash of what the picture shows.
pub async fn shown(db: &impl Query) -> Result<Option<Hash256>, HostError> {
    db.row(sql("SELECT shown FROM network_pictures WHERE id = $1").bind(ROW)).await
}

pub async fn find(db: &impl Query) -> Result<Option<String>, HostError> {
    db.row(sql("SELECT svg FROM network_pictures WHERE id = $1").bind(ROW)).await
}

pub async fn store(tx: &Tx, shown: Hash256, svg: &str) -> Result<(), HostError> {
    tx.execute(Sql::upsert("network_pictures", "id", "shown, svg").bind((ROW, shown, svg))).await.map(drop)
}
