//! Metrics of the agents of an address, for the leaderboard.

use plugin_api::{
    Address, HostError, Query,
    point::{LeaderboardInput, Metrics},
    sql,
};
use std::collections::BTreeMap;

/// Completed jobs and ratings by owner. A job counts at its delivery; of all time, ratings are the registry's own count.
pub async fn metrics(db: &impl Query, input: &LeaderboardInput) -> Result<BTreeMap<Address, Metrics>, HostError> {
    let statements = match input.since_s {
        Some(second) => vec![
            input.select(
                sql("SELECT a.owner, count(*), cast(coalesce(sum(j.rating), 0) AS BIGINT), \
                 cast(sum(CASE WHEN j.rating > 0 THEN 1 ELSE 0 END) AS BIGINT) \
                 FROM agents_jobs j JOIN agents_agents a ON a.id = j.agent_id \
                 WHERE j.status = 'Completed' AND coalesce(j.delivered_at, j.created_at) >= $1")
                .bind(second),
                "a.owner",
                "count(*) DESC",
            ),
        ],
        None => vec![
            // SQLite keeps the order of a cross join: it reads the agents by their owners, and sorts nothing but the counts.
            input.select(
                sql("SELECT a.owner, count(*), 0, 0 FROM agents_agents a CROSS JOIN agents_jobs j \
                     WHERE j.agent_id = a.id AND j.status = 'Completed'"),
                "a.owner",
                "count(*) DESC",
            ),
            input.select(
                sql("SELECT a.owner, 0, cast(sum(a.rating_sum) AS BIGINT), cast(sum(a.rating_count) AS BIGINT) \
                     FROM agents_agents a WHERE a.rating_count > 0"),
                "a.owner",
                "1.0 * sum(a.rating_sum) / sum(a.rating_count) DESC",
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
