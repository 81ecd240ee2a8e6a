//! Totals that are maintained with each event, so that reads need no count.

use super::{
    agents,
    records::{self, Settlement},
};
use crate::model::{AgentStatus, JobFacts, JobStatus, Standing};
use plugin_api::{HostError, Query, Sql, Tx, Wei, sql};
use serde::Deserialize;

/// Totals of the network's jobs.
#[derive(Default, Deserialize)]
pub struct Totals {
    pub jobs: i64,
    pub jobs_completed: i64,
    /// Sum of the amounts of completed and resolved jobs.
    pub volume: Wei,
    /// Sum of their fees.
    pub fees: Wei,
    /// Validations with a response.
    pub validations: i64,
}

/// Key of the only row.
const ROW: i64 = 1;

fn read() -> Sql {
    sql("SELECT jobs, jobs_completed, volume, fees, validations FROM agents_totals WHERE id = $1").bind(ROW)
}

pub async fn find(db: &impl Query) -> Result<Totals, HostError> {
    Ok(db.row(read()).await?.unwrap_or_default())
}

/// Counts a job that was just completed or resolved: for the network and its agent and, when its amount is above zero, for the payer.
pub async fn count_settled(tx: &Tx, job: &JobFacts, settlement: Settlement) -> Result<(), HostError> {
    let earned = records::read_earned(job.agent_id);
    let mut newly_paid_feedback = 0;
    let (totals, earned) = if job.amount > Wei::ZERO {
        let count_payer = sql("INSERT INTO agents_payers (agent_id, payer, jobs) VALUES ($1, $2, 1) \
             ON CONFLICT (agent_id, payer) DO UPDATE SET jobs = agents_payers.jobs + 1 RETURNING jobs")
        .bind((job.agent_id, job.client));
        let feedback = records::read_feedback(job.agent_id, job.client);
        let statements = [read(), earned, count_payer, feedback, agents::read_standing(job.agent_id)];
        let [totals, earned, payers_jobs, feedback, standing] = tx.run_all(statements).await?;
        let is_first = payers_jobs.one::<i64>()? == 1;
        if is_first {
            newly_paid_feedback = feedback.first()?.unwrap_or(0);
        }
        if let Some(mut standing) = standing.first::<Standing>()? {
            standing.pay(job.amount, is_first);
            tx.defer(agents::set_standing(job.agent_id, &standing))?;
        }
        (totals, earned)
    } else {
        let [totals, earned] = tx.run_all([read(), earned]).await?;
        (totals, earned)
    };
    let earned: (Wei, Wei) = earned.first()?.unwrap_or_default();
    records::add_settled(tx, job, settlement, earned, newly_paid_feedback)?;
    let totals: Totals = totals.first()?.unwrap_or_default();
    let store = sql("INSERT INTO agents_totals (id, jobs, jobs_completed, volume, fees, validations) \
         VALUES ($1, 0, $2, $3, $4, 0) ON CONFLICT (id) DO UPDATE SET \
         jobs_completed = excluded.jobs_completed, volume = excluded.volume, fees = excluded.fees")
    .bind((ROW, totals.jobs_completed + i64::from(job.status == JobStatus::Completed)))
    .bind((totals.volume.saturating_add(job.amount), totals.fees.saturating_add(settlement.fee)));
    tx.defer(store)
}

pub fn count_job() -> Sql {
    sql("INSERT INTO agents_totals (id, jobs, jobs_completed, volume, fees, validations) \
         VALUES ($1, 1, 0, '0', '0', 0) ON CONFLICT (id) DO UPDATE SET jobs = agents_totals.jobs + 1")
    .bind(ROW)
}

pub fn count_validation() -> Sql {
    sql("INSERT INTO agents_totals (id, jobs, jobs_completed, volume, fees, validations) \
         VALUES ($1, 0, 0, '0', '0', 1) ON CONFLICT (id) DO UPDATE SET validations = agents_totals.validations + 1")
    .bind(ROW)
}

/// Adds `more` to the count of agents with a status.
pub fn count_agents(status: AgentStatus, more: i64) -> Sql {
    sql("INSERT INTO agents_counts (status, agents) VALUES ($1, $2) \
         ON CONFLICT (status) DO UPDATE SET agents = agents_counts.agents + excluded.agents")
    .bind((status, more))
}
