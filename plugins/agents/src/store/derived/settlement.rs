//! Counts settled jobs for the agent, for the payer and for the network.

use super::{
    agents::{outcome, read_standing, set_standing},
    totals::{self, Totals},
};
use crate::model::{JobFacts, JobStatus, Standing};
use plugin_api::{HostError, Tx, Wei, sql};

/// Counts a job that was just completed or resolved. Only an amount above zero counts for the agent.
pub async fn count(tx: &Tx, job: &JobFacts, fee: Wei) -> Result<(), HostError> {
    let is_paid = job.amount > Wei::ZERO;
    let mut first = vec![totals::read()];
    if is_paid {
        let paid = "INSERT INTO agents_payers (agent_id, payer, jobs) VALUES ($1, $2, 1) \
             ON CONFLICT (agent_id, payer) DO UPDATE SET jobs = agents_payers.jobs + 1 RETURNING jobs";
        first.push(sql(paid).bind(job.agent_id).bind(job.client));
        first.push(read_standing(job.agent_id));
    }
    let known = tx.batch(first).await?;

    let mut totals: Totals = outcome(&known, 0)?.first()?.unwrap_or_default();
    totals.settle(job.amount, fee, job.status == JobStatus::Completed);
    tx.defer(totals.store())?;
    if is_paid {
        let payers_jobs: i64 = outcome(&known, 1)?.one()?;
        if let Some(mut standing) = outcome(&known, 2)?.first::<Standing>()? {
            standing.pay(job.amount, payers_jobs == 1);
            tx.defer(set_standing(job.agent_id, &standing))?;
        }
    }
    Ok(())
}
