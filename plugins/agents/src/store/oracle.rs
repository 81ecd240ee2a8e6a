//! The oracle's place in the activity log, its requests, and how many it has made today.

use crate::model::Delivery;
use plugin_api::{
    AgentId, HostError, JobId, Query, Tx,
    counter::{Count, Counter},
    sql,
};
use serde::Deserialize;

const DAY_S: i64 = 86_400;
const ALL: Counter = Counter::new("agents_counters", "oracle", DAY_S);
const OF_AGENT: Counter = Counter::new("agents_counters", "oracle_agent", DAY_S);
/// The key of the counter of all.
const NETWORK: &str = "";

/// A public `job.delivered`: its block is deep enough to be acted on.
#[derive(Debug, Deserialize)]
pub struct DeliveredJob {
    pub id: i64,
    pub job: JobId,
}

/// The last event that was looked at.
pub async fn looked_at(db: &impl Query) -> Result<i64, HostError> {
    Ok(db.row(sql("SELECT event_id FROM agents_oracle_progress WHERE id = 1")).await?.unwrap_or(0))
}

/// Moves from the event `before` to `event`; returns false when another gateway has moved it.
pub async fn advance(tx: &Tx, before: i64, event: i64) -> Result<bool, HostError> {
    let upsert = "INSERT INTO agents_oracle_progress (id, event_id) VALUES (1, $2) ON CONFLICT (id) DO UPDATE \
         SET event_id = excluded.event_id WHERE agents_oracle_progress.event_id = $1";
    Ok(tx.execute(sql(upsert).bind((before, event))).await? > 0)
}

/// The deliveries behind an event that are not older than `since_s`, in their order.
pub async fn deliveries(db: &impl Query, after: i64, since_s: i64, limit: u32) -> Result<Vec<DeliveredJob>, HostError> {
    let select = "SELECT id, ref_id AS job FROM host_activity_v1 WHERE type = 'job.delivered' AND id > $1 AND ts >= $2 \
         ORDER BY id LIMIT $3";
    db.rows(sql(select).bind((after, since_s, limit))).await
}

/// What a job delivered last; `None` when it delivered nothing that has a hash.
pub async fn delivery(db: &impl Query, job: JobId) -> Result<Option<Delivery>, HostError> {
    let select = "SELECT j.id AS job_id, j.agent_id, j.amount, j.output_hash, j.output_uri FROM agents_jobs j \
         WHERE j.id = $1 AND j.output_hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM agents_oracle_requests r \
             WHERE r.job_id = j.id AND r.output_hash = j.output_hash)";
    db.row(sql(select).bind(job)).await
}

/// Stores a request; returns false when there is one for this output.
pub async fn insert(tx: &Tx, delivery: &Delivery, intent: i64) -> Result<bool, HostError> {
    let insert = "INSERT INTO agents_oracle_requests (job_id, output_hash, agent_id, intent, requested_at) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (job_id, output_hash) DO NOTHING";
    let Delivery { job_id, output_hash, agent_id, .. } = delivery;
    Ok(tx.execute(sql(insert).bind((job_id, output_hash, agent_id, intent, tx.now_s()))).await? > 0)
}

/// Counts a request for this agent; returns false, and counts nothing, when it or all agents have had theirs today.
pub async fn count(tx: &Tx, agent: AgentId, (per_agent, per_day): (i64, i64)) -> Result<bool, HostError> {
    // Yesterday's rows decide nothing any more.
    for counter in [ALL, OF_AGENT] {
        tx.defer(counter.delete_before(tx.now_s() - DAY_S))?;
    }
    let (all, key) = (ALL.used(tx, NETWORK, tx.now_s()).await?, agent.to_string());
    Ok(all < per_day
        && matches!(OF_AGENT.take(tx, &key, 1, per_agent).await?, Count::Counted { .. })
        && matches!(ALL.take(tx, NETWORK, 1, per_day).await?, Count::Counted { .. }))
}

/// Requests of today.
pub async fn today(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    ALL.used(db, NETWORK, now_s).await
}
