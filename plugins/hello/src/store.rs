//! The table `hello_guests`. Rule: all SQL of the plugin is in this file, and the same text runs on both databases.

use crate::model::GuestView;
use plugin_api::{Address, HostError, Query, Tx, sql};
use serde::Deserialize;

/// A row, decoded by column names.
#[derive(Deserialize)]
struct GuestRow {
    id: i64,
    address: Address,
    message: String,
    created_at: i64,
}

impl From<GuestRow> for GuestView {
    fn from(row: GuestRow) -> Self {
        Self { id: row.id, address: row.address, message: row.message, created_at: row.created_at }
    }
}

/// Adds a line and returns it with its id.
pub async fn insert_guest(tx: &Tx, address: Address, message: &str) -> Result<GuestView, HostError> {
    let insert = sql("INSERT INTO hello_guests (address, message, created_at) VALUES ($1, $2, $3) RETURNING id")
        .bind(address)
        .bind(message)
        .bind(tx.now_s());
    let id = tx.one(insert).await?;
    Ok(GuestView { id, address, message: message.to_owned(), created_at: tx.now_s() })
}

/// The newest first.
pub async fn list_guests(db: &impl Query, limit: u32, offset: u32) -> Result<Vec<GuestView>, HostError> {
    let select = sql("SELECT id, address, message, created_at FROM hello_guests ORDER BY id DESC LIMIT $1 OFFSET $2")
        .bind(limit)
        .bind(offset);
    let rows: Vec<GuestRow> = db.rows(select).await?;
    Ok(rows.into_iter().map(GuestView::from).collect())
}

pub async fn count_guests(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM hello_guests")).await
}

/// Deletes the lines written before that second; returns their number.
pub async fn delete_guests_before(tx: &Tx, oldest_s: i64) -> Result<u64, HostError> {
    tx.execute(sql("DELETE FROM hello_guests WHERE created_at < $1").bind(oldest_s)).await
}
