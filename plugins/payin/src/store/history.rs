//! Every change of a quote's status.

use crate::model::{HistoryView, Status};
use plugin_api::{HostError, Query, Tx, sql};

pub async fn insert(tx: &Tx, quote: &str, status: Status, detail: &str) -> Result<(), HostError> {
    let insert = "INSERT INTO payin_history (quote, status, detail, at) VALUES ($1, $2, $3, $4)";
    tx.execute(sql(insert).bind((quote, status, detail, tx.now_s()))).await.map(drop)
}

pub async fn of_quote(db: &impl Query, quote: &str) -> Result<Vec<HistoryView>, HostError> {
    db.rows(sql("SELECT at, status, detail FROM payin_history WHERE quote = $1 ORDER BY id").bind(quote)).await
}
