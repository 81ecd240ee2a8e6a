//! The cursor of the published effects, and the next job events of the activity log.

use super::state::BountyRow;
use crate::model::BountyId;
use plugin_api::{HostError, JobId, Query, Tx, sql};
use serde::Deserialize;

/// A public event of a job: its block is deep enough to be final.
#[derive(Debug, Deserialize)]
pub struct JobEvent {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
    pub ts: i64,
    pub job: JobId,
}

pub async fn published_up_to(db: &impl Query) -> Result<i64, HostError> {
    Ok(db.row(sql("SELECT event_id FROM bounties_progress WHERE id = 1")).await?.unwrap_or(0))
}

/// Moves the cursor from `before` to `event`; returns false when another gateway has moved it.
pub async fn advance(tx: &Tx, before: i64, event: i64) -> Result<bool, HostError> {
    let advance = sql("UPDATE bounties_progress SET event_id = $2 WHERE id = 1 AND event_id = $1");
    Ok(tx.execute(advance.bind((before, event))).await? > 0)
}

/// Public events that may change a bounty's status, in their order.
pub async fn next(db: &impl Query, after: i64, limit: u32) -> Result<Vec<JobEvent>, HostError> {
    db.rows(
        sql("SELECT id, type, ts, ref_id AS job FROM host_activity_v1 \
             WHERE type IN ('job.requested', 'job.completed', 'job.refunded') AND id > $1 ORDER BY id LIMIT $2")
        .bind((after, limit)),
    )
    .await
}

/// Whether this was the job that paid the bounty when it was requested: it cites the bounty, and every older one of the poster
/// that does was refunded before.
pub async fn was_first(db: &impl Query, bounty: &BountyRow<'_>, event: &JobEvent) -> Result<bool, HostError> {
    let older = sql("SELECT count(*) FROM bounties_jobs c JOIN jobs_v1 v ON v.job_id = c.job_id \
         WHERE c.bounty_id = $1 AND v.client = $2 AND (c.job_id = $3 OR (c.job_id < $3 \
             AND (v.status <> 'Refunded' OR v.closed_at > $4)))");
    let older = older.bind(bounty.id).bind(bounty.poster).bind(event.job).bind(event.ts);
    let cited = sql("SELECT count(*) FROM bounties_jobs WHERE job_id = $1 AND bounty_id = $2");
    let cites: i64 = db.one(cited.bind(event.job).bind(bounty.id)).await?;
    Ok(cites == 1 && db.one::<i64>(older).await? == 1)
}

/// Whether the completion of the job is public, and so final.
pub async fn is_public_completion(db: &impl Query, job: JobId) -> Result<bool, HostError> {
    let found: Option<i64> = db
        .row(
            sql("SELECT id FROM host_activity_v1 WHERE type = 'job.completed' AND ref_kind = 'job' AND ref_id = $1 LIMIT 1")
                .bind(job.to_string()),
        )
        .await?;
    Ok(found.is_some())
}

/// Bounties whose poster named the job, and the one that it cites.
pub async fn touched_by(db: &impl Query, job: JobId, cited: Option<BountyId>) -> Result<Vec<BountyId>, HostError> {
    db.rows(
        sql("SELECT id FROM bounties_bounties WHERE awarded_job = $1 UNION SELECT id FROM bounties_bounties WHERE id = $2 \
             ORDER BY id")
        .bind((job, cited.map_or(0, |bounty| bounty.0))),
    )
    .await
}
