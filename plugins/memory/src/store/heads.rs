//! Heads: one row for each address. Rule: every write of an address changes it, in the same transaction as its record and value.

use crate::model::HeaderDraft;
use plugin_api::{Address, Hash256, HostError, Query, Sql, sql};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Head {
    pub seq: i64,
    pub head_hash: Hash256,
    pub used_bytes: i64,
    pub key_count: i64,
    pub last_write_at: Option<i64>,
}

impl Head {
    /// Of an address that never wrote.
    pub const NONE: Self =
        Self { seq: 0, head_hash: HeaderDraft::NOTHING, used_bytes: 0, key_count: 0, last_write_at: None };
}

pub fn select(owner: Address) -> Sql {
    sql("SELECT seq, head_hash, used_bytes, key_count, last_write_at FROM memory_heads WHERE address = $1").bind(owner)
}

pub async fn read(db: &impl Query, owner: Address) -> Result<Head, HostError> {
    Ok(db.row(select(owner)).await?.unwrap_or(Head::NONE))
}

pub fn store(owner: Address, head: &Head) -> Sql {
    let store = Sql::upsert("memory_heads", "address", "seq, head_hash, used_bytes, key_count, last_write_at");
    store.bind((owner, head.seq, head.head_hash, head.used_bytes, head.key_count, head.last_write_at))
}
