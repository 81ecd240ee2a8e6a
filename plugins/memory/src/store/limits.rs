//! Bounds of what is stored in all, and by one client in a day.
//!
//! The sums are read before a write, from what is committed, and each write changes one part of them only: a single row that every
//! write changes would make all writes conflict on PostgreSQL. So writes at the same moment may pass a bound together, each by one
//! value, and the next one is refused.

use crate::{
    Config,
    error::MemoryError,
    model::{DAY_S, RECORD_BYTES},
};
use plugin_api::{Address, HandlerError, HostError, Query, Sql, sql};
use serde::Deserialize;

/// Parts of the sums, by the address.
const SHARDS: i64 = 16;

#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Totals {
    pub value_bytes: i64,
    pub record_count: i64,
}

impl Totals {
    /// In the unit of the bound.
    pub fn bytes(self) -> i64 {
        self.record_count.saturating_mul(RECORD_BYTES).saturating_add(self.value_bytes)
    }
}

pub async fn totals(db: &impl Query) -> Result<Totals, HostError> {
    let sums = "SELECT cast(sum(value_bytes) AS BIGINT) AS value_bytes, cast(sum(record_count) AS BIGINT) AS record_count \
        FROM memory_totals";
    db.one(sql(sums)).await
}

/// Whether a value of this size fits, counted with its record.
pub async fn check(
    db: &impl Query,
    config: &Config,
    client: &str,
    size: i64,
    now_s: i64,
) -> Result<(), HandlerError<MemoryError>> {
    let sums = sql("SELECT t.value_bytes, t.record_count, u.today FROM \
            (SELECT cast(sum(value_bytes) AS BIGINT) AS value_bytes, cast(sum(record_count) AS BIGINT) AS record_count \
            FROM memory_totals) t, (SELECT cast(coalesce(sum(bytes), 0) AS BIGINT) AS today FROM memory_uploads \
            WHERE client = $1 AND day = $2) u");
    let (value_bytes, record_count, today): (i64, i64, i64) = db.one(sums.bind((client, day(now_s)))).await?;
    let bytes = size.saturating_add(RECORD_BYTES);
    if today.saturating_add(bytes) > config.client_bytes_per_day {
        return Err(MemoryError::DailyBytes { limit: config.client_bytes_per_day }.into());
    }
    if (Totals { value_bytes, record_count }).bytes().saturating_add(bytes) > config.total_bytes {
        return Err(MemoryError::Full { limit: config.total_bytes }.into());
    }
    Ok(())
}

/// Counts a write: a record, and what it adds to the values or takes from them.
pub fn count(owner: Address, value_bytes: i64) -> Sql {
    sql("UPDATE memory_totals SET value_bytes = value_bytes + $2, record_count = record_count + 1 WHERE shard = $1")
        .bind((shard(owner), value_bytes))
}

/// Counts new bytes of a client: a value and its record.
pub fn count_upload(owner: Address, client: &str, size: i64, now_s: i64) -> Sql {
    sql("INSERT INTO memory_uploads (client, day, shard, bytes) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (client, day, shard) DO UPDATE SET bytes = memory_uploads.bytes + excluded.bytes")
    .bind((client, day(now_s), shard(owner), size.saturating_add(RECORD_BYTES)))
}

pub fn delete_uploads_before(now_s: i64) -> Sql {
    sql("DELETE FROM memory_uploads WHERE day < $1").bind(day(now_s))
}

/// Days since 1970-01-01, UTC.
fn day(now_s: i64) -> i64 {
    now_s.div_euclid(DAY_S)
}

fn shard(owner: Address) -> i64 {
    i64::from(owner.0.last().copied().unwrap_or_default()) % SHARDS
}
