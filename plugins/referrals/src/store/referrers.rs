//! Sums over claims: by referrer, and of all.

use super::claims::ELIGIBLE;
use crate::model::Tally;
use plugin_api::{AgentId, HostError, Query, Sql, Wei, sql};
use serde::Deserialize;

/// Claims of one referrer with the same reward. No database adds 256-bit numbers, so each reward has a row.
fn tallies(min_job: Wei, rest: &str) -> Sql {
    let text = format!(
        "SELECT c.ref_agent, max(f.name) AS agent_name, coalesce(max(f.owner), max(c.ref_owner)) AS owner, c.reward, \
         count(*) AS referred, cast(sum(CASE WHEN c.state = 'paid' THEN 1 ELSE 0 END) AS BIGINT) AS paid, \
         cast(sum(CASE WHEN c.state = 'sent' OR j.id IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT) AS pending, \
         cast(sum(CASE WHEN t.state = 'done' THEN 1 ELSE 0 END) AS BIGINT) AS received \
         FROM referrals_claims c LEFT JOIN {ELIGIBLE} LEFT JOIN referrals_agents f ON f.id = c.ref_agent \
         LEFT JOIN referrals_transfers t ON t.new_agent = c.new_agent AND t.side = 'ref' {rest} \
         GROUP BY c.ref_agent, c.reward"
    );
    sql(text).bind(min_job.sort_key())
}

/// Of all referrers.
pub async fn all(db: &impl Query, min_job: Wei) -> Result<Vec<Tally>, HostError> {
    db.rows(tallies(min_job, "")).await
}

/// Of one referrer.
pub async fn of(db: &impl Query, min_job: Wei, ref_agent: AgentId) -> Result<Vec<Tally>, HostError> {
    db.rows(tallies(min_job, "WHERE c.ref_agent = $2").bind(ref_agent)).await
}

/// Numbers for the operator.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Numbers {
    pub referred: i64,
    pub pending: i64,
    pub paid: i64,
    /// Eligible, and held up for a reason that the row names.
    pub held: i64,
    /// Transfers that failed for good.
    pub failed: i64,
    /// Sent or paid for a job that is completed no more.
    pub withdrawn: i64,
}

pub async fn numbers(db: &impl Query, min_job: Wei) -> Result<Numbers, HostError> {
    let text = format!(
        "SELECT count(*) AS referred, \
         cast(coalesce(sum(CASE WHEN c.state = 'sent' OR j.id IS NOT NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS pending, \
         cast(coalesce(sum(CASE WHEN c.state = 'paid' THEN 1 ELSE 0 END), 0) AS BIGINT) AS paid, \
         cast(coalesce(sum(CASE WHEN j.id IS NOT NULL AND c.reason IS NOT NULL THEN 1 ELSE 0 END), 0) AS BIGINT) AS held, \
         (SELECT count(*) FROM referrals_transfers WHERE state = 'failed') AS failed, \
         (SELECT count(*) FROM referrals_claims s WHERE s.job_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM referrals_jobs d \
             WHERE d.id = s.job_id AND d.completed_block IS NOT NULL)) AS withdrawn \
         FROM referrals_claims c LEFT JOIN {ELIGIBLE}"
    );
    db.one(sql(text).bind(min_job.sort_key())).await
}
