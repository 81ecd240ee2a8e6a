//! Metrics of the agents of an address, for the leaderboard.

use plugin_api::{Address, HostError, Query, Sql, point::Metrics, sql};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct OwnerMetrics {
    owner: Address,
    completed_jobs: u64,
    rating_sum: u64,
    rating_count: u64,
}

const COMPLETED: &str = "FROM agents_jobs j JOIN agents_agents a ON a.id = j.agent_id WHERE j.status = 'Completed'";

/// Completed jobs and ratings by owner. A job counts at its delivery; without `since_s`, ratings are the registry's own count.
pub async fn metrics(db: &impl Query, since_s: Option<i64>) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let statements = match since_s {
        Some(second) => vec![jobs_since(second)],
        None => vec![all_jobs(), all_ratings()],
    };
    let mut metrics: BTreeMap<Address, Metrics> = BTreeMap::new();
    for statement in statements {
        for OwnerMetrics { owner, completed_jobs, rating_sum, rating_count } in db.rows(statement).await? {
            *metrics.entry(owner).or_default() +=
                Metrics { completed_jobs, rating_sum, rating_count, ..Metrics::default() };
        }
    }
    Ok(metrics)
}

fn jobs_since(second: i64) -> Sql {
    sql(format!(
        "SELECT a.owner, count(*) AS completed_jobs, cast(coalesce(sum(j.rating), 0) AS BIGINT) AS rating_sum, \
         cast(sum(CASE WHEN j.rating > 0 THEN 1 ELSE 0 END) AS BIGINT) AS rating_count \
         {COMPLETED} AND coalesce(j.delivered_at, j.created_at) >= $1 GROUP BY a.owner"
    ))
    .bind(second)
}

fn all_jobs() -> Sql {
    sql(format!(
        "SELECT a.owner, count(*) AS completed_jobs, 0 AS rating_sum, 0 AS rating_count {COMPLETED} GROUP BY a.owner"
    ))
}

fn all_ratings() -> Sql {
    sql("SELECT owner, 0 AS completed_jobs, cast(sum(rating_sum) AS BIGINT) AS rating_sum, \
         cast(sum(rating_count) AS BIGINT) AS rating_count FROM agents_agents WHERE rating_count > 0 GROUP BY owner")
}
