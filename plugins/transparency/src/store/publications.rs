//! Roots that were published on the chain.

use super::{from_db, to_db};
use plugin_api::{HostError, Query, Sql, sql};
use serde::Deserialize;

pub struct Published {
    pub epoch: i64,
    pub size: u64,
    /// Of the transaction.
    pub intent_id: i64,
    /// Unix seconds.
    pub at: i64,
}

#[derive(Deserialize)]
struct PublishedRow {
    epoch: i64,
    size: i64,
    intent_id: i64,
    published_at: i64,
}

pub async fn last(db: &impl Query) -> Result<Option<Published>, HostError> {
    let select = "SELECT epoch, size, intent_id, published_at FROM transparency_publications \
        ORDER BY epoch DESC, size DESC LIMIT 1";
    let row: Option<PublishedRow> = db.row(sql(select)).await?;
    Ok(row.map(|PublishedRow { epoch, size, intent_id, published_at }| Published {
        epoch,
        size: from_db(size),
        intent_id,
        at: published_at,
    }))
}

pub fn insert(epoch: i64, size: u64, intent_id: i64, now_s: i64) -> Sql {
    let insert = "INSERT INTO transparency_publications (epoch, size, intent_id, published_at) VALUES ($1, $2, $3, $4)";
    sql(insert).bind((epoch, to_db(size), intent_id, now_s))
}
