//! What an address contributed to the commons: its events, by type.

use plugin_api::{Address, HostError, Query, sql};
use std::collections::{BTreeMap, BTreeSet};

/// How many events of each of these types the address published. Events that a reorganisation retracted do not count.
pub async fn count(
    db: &impl Query,
    actor: Address,
    types: &BTreeSet<String>,
) -> Result<BTreeMap<String, i64>, HostError> {
    let select = sql("SELECT type, count(*) FROM host_activity_v1 WHERE actor = $1 AND type IN ('-'").bind(actor);
    let select = types.iter().fold(select, |select, kind| select.push_bind(", {}", kind)).push(") GROUP BY type");
    let counts: Vec<(String, i64)> = db.rows(select).await?;
    Ok(counts.into_iter().collect())
}
