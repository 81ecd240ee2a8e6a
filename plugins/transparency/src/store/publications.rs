//! Roots that were published on the chain.

use plugin_api::{HostError, Query, Sql, sql};
use serde::Deserialize;

#[derive(Deserialize)]
pub struct PublishedRoot {
    pub epoch: i64,
    pub size: u64,
    /// Of the transaction.
    pub intent_id: i64,
    /// Unix seconds.
    #[serde(rename = "published_at")]
    pub at: i64,
}

pub async fn last(db: &impl Query) -> Result<Option<PublishedRoot>, HostError> {
    let select = "SELECT epoch, size, intent_id, published_at FROM transparency_publications \
        ORDER BY epoch DESC, size DESC LIMIT 1";
    db.row(sql(select)).await
}

pub fn insert(epoch: i64, size: u64, intent_id: i64, now_s: i64) -> Sql {
    let insert = "INSERT INTO transparency_publications (epoch, size, intent_id, published_at) VALUES ($1, $2, $3, $4)";
    sql(insert).bind((epoch, size, intent_id, now_s))
}
