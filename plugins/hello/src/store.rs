//! The table `hello_guests`. Rule: all SQL of the plugin is in this file, and the same text runs on both databases.

use crate::model::GuestView;
use plugin_api::{Address, HostError, List, Query, Tx, sql};

/// The guest book, the newest line first. Its rows decode as [`GuestView`]s.
pub const GUESTS: List = List::new("hello_guests", "id, address, message, created_at").order_by("id DESC");

/// Adds a line and returns it with its id.
pub async fn insert_guest(tx: &Tx, address: Address, message: &str) -> Result<GuestView, HostError> {
    let insert = sql("INSERT INTO hello_guests (address, message, created_at) VALUES ($1, $2, $3) RETURNING id")
        .bind((address, message, tx.now_s()));
    let id = tx.one(insert).await?;
    Ok(GuestView { id, address, message: message.to_owned(), created_at: tx.now_s() })
}

/// Deletes the lines written before that second; returns their number.
pub async fn delete_guests_before(tx: &Tx, oldest_s: i64) -> Result<u64, HostError> {
    tx.execute(sql("DELETE FROM hello_guests WHERE created_at < $1").bind(oldest_s)).await
}
