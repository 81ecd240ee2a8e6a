//! Values that were read from contracts, because no event carries them.

use plugin_api::{HostError, Query, Sql, Tx, sql};

const REVIEW_WINDOW: &str = "review_window_s";

pub async fn review_window_s(db: &impl Query) -> Result<Option<i64>, HostError> {
    db.row(sql("SELECT value FROM agents_settings WHERE name = $1").bind(REVIEW_WINDOW)).await
}

pub async fn set_review_window_s(tx: &Tx, seconds: i64) -> Result<(), HostError> {
    tx.execute(Sql::upsert("agents_settings", "name", "value").bind((REVIEW_WINDOW, seconds))).await.map(drop)
}
