//! Which bounty a job cites: a derived table, written by handlers of chain events only.

use crate::model::BountyId;
use plugin_api::{HostError, JobId, Query, Tx, sql};

pub fn insert(tx: &Tx, job: JobId, bounty: Option<BountyId>) -> Result<(), HostError> {
    tx.defer(sql("INSERT INTO bounties_jobs (job_id, bounty_id) VALUES ($1, $2)").bind((job, bounty)))
}

/// The bounty that the job cites; the outer `None` while this index has not reached the job.
pub async fn cited_by(db: &impl Query, job: JobId) -> Result<Option<Option<BountyId>>, HostError> {
    let row: Option<(Option<BountyId>,)> =
        db.row(sql("SELECT bounty_id FROM bounties_jobs WHERE job_id = $1").bind(job)).await?;
    Ok(row.map(|(bounty,)| bounty))
}
