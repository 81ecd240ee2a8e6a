//! Which bounty a job cites: a derived table, written by handlers of chain events only.

use crate::model::BountyId;
use plugin_api::{HostError, JobId, Query, Tx, sql};
use serde::Deserialize;

pub fn insert(tx: &Tx, job: JobId, bounty: Option<BountyId>) -> Result<(), HostError> {
    tx.defer(sql("INSERT INTO bounties_jobs (job_id, bounty_id) VALUES ($1, $2)").bind((job, bounty)))
}

/// The bounty that the job cites; the outer `None` while this index has not reached the job.
pub async fn cited_by(db: &impl Query, job: JobId) -> Result<Option<Option<BountyId>>, HostError> {
    let row: Option<(Option<BountyId>,)> =
        db.row(sql("SELECT bounty_id FROM bounties_jobs WHERE job_id = $1").bind(job)).await?;
    Ok(row.map(|(bounty,)| bounty))
}

/// Citations that [`mark_taken`] has not seen, of jobs that were requested before that second, by job.
pub async fn requested_before(db: &impl Query, before_s: i64, limit: u32) -> Result<Vec<Citation>, HostError> {
    let requested = sql("SELECT c.job_id, c.bounty_id FROM bounties_jobs c JOIN jobs_v1 v ON v.job_id = c.job_id \
         WHERE c.job_id > (SELECT p.cited_up_to FROM bounties_progress p WHERE p.id = 1) AND v.created_at < $1 \
         ORDER BY c.job_id LIMIT $2");
    db.rows(requested.bind((before_s, limit))).await
}

/// A job, and the bounty that it cites.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Citation {
    pub job_id: JobId,
    pub bounty_id: Option<BountyId>,
}

/// Marks the cited bounties as taken, settled ones as well: the job may be open. Of later jobs, queries read the citations.
pub async fn mark_taken(tx: &Tx, citations: &[Citation]) -> Result<(), HostError> {
    let Some(last) = citations.last() else { return Ok(()) };
    let take = |bounty| sql("UPDATE bounties_bounties SET is_taken = 1, is_settled = 0 WHERE id = $1").bind(bounty);
    let passed = sql("UPDATE bounties_progress SET cited_up_to = $1 WHERE id = 1").bind(last.job_id);
    tx.batch(citations.iter().filter_map(|citation| citation.bounty_id).map(take).chain([passed]).collect())
        .await
        .map(drop)
}
