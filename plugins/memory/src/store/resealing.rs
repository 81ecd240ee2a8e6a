//! Rows that another master key sealed than the one that seals now.

use plugin_api::{HostError, Query, sql};

/// How many rows wait to be sealed again.
pub async fn count_stale(db: &impl Query, key_id: &str) -> Result<i64, HostError> {
    let count = "SELECT (SELECT count(*) FROM memory_values WHERE key_id < $1 OR key_id > $1) \
        + (SELECT count(*) FROM memory_records WHERE key_id < $1 OR key_id > $1)";
    db.one(sql(count).bind(key_id)).await
}
