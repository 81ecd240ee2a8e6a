//! Metrics of the agents of an address, for the leaderboard.

use plugin_api::{Address, HostError, Query, point::Metrics, sql};
use std::collections::BTreeMap;

const COMPLETED: &str = "FROM agents_jobs j JOIN agents_agents a ON a.id = j.agent_id WHERE j.status = 'Completed'";

/// Completed jobs and ratings by owner. A job counts at its delivery; without `since_s`, ratings are the registry's own count.
pub async fn metrics(db: &impl Query, since_s: Option<i64>) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let statements = match since_s {
        Some(second) => vec![
            sql(format!(
                "SELECT a.owner, count(*), cast(coalesce(sum(j.rating), 0) AS BIGINT), \
                 cast(sum(CASE WHEN j.rating > 0 THEN 1 ELSE 0 END) AS BIGINT) \
                 {COMPLETED} AND coalesce(j.delivered_at, j.created_at) >= $1 GROUP BY a.owner"
            ))
            .bind(second),
        ],
        None => vec![
            sql(format!("SELECT a.owner, count(*), 0, 0 {COMPLETED} GROUP BY a.owner")),
            sql(
                "SELECT owner, 0, cast(sum(rating_sum) AS BIGINT), cast(sum(rating_count) AS BIGINT) FROM agents_agents \
                 WHERE rating_count > 0 GROUP BY owner",
            ),
        ],
    };
    let mut metrics: BTreeMap<Address, Metrics> = BTreeMap::new();
    for statement in statements {
        let rows: Vec<(Address, u64, u64, u64)> = db.rows(statement).await?;
        for (owner, completed_jobs, rating_sum, rating_count) in rows {
            *metrics.entry(owner).or_default() +=
                Metrics { completed_jobs, rating_sum, rating_count, ..Metrics::default() };
        }
    }
    Ok(metrics)
}
