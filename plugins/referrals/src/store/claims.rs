//! Claims: reads with the job that makes one eligible, and their changes.

use crate::model::{Claim, Eligible, ReferralView};
use plugin_api::{AgentId, HostError, JobId, Query, Sql, Tx, Wei, sql};

/// The job `j` that makes an open claim `c` eligible: the first one that was completed, for at least `$1`, whose client is neither of
/// the owners, nor an account of theirs. Computed at each read, so a reorganisation needs no repair.
pub const ELIGIBLE: &str = "referrals_jobs j ON c.state = 'open' AND j.id = (\
     SELECT q.id FROM referrals_jobs q WHERE q.agent_id = c.new_agent AND q.completed_block IS NOT NULL AND q.amount >= $1 \
         AND q.client <> c.new_owner AND q.client <> c.ref_owner \
         AND NOT EXISTS (SELECT 1 FROM referrals_accounts a WHERE a.account = q.client \
             AND (a.owner = c.new_owner OR a.owner = c.ref_owner)) \
     ORDER BY q.completed_block, q.id LIMIT 1)";

/// Claims as [`ReferralView`]s; `rest` selects and orders.
fn select(min_job: Wei, rest: &str) -> Sql {
    let text = format!(
        "SELECT c.new_agent AS new_agent_id, n.name AS new_agent_name, c.ref_agent AS ref_agent_id, \
         r.name AS ref_agent_name, c.new_owner, c.ref_owner, c.claimed_at AS ts, \
         CASE WHEN c.state = 'paid' THEN 'paid' WHEN c.state = 'sent' OR j.id IS NOT NULL THEN 'pending' \
             ELSE 'registered' END AS status, \
         coalesce(c.eligible_at, j.completed_at) AS eligible_at, coalesce(c.job_id, j.id) AS job_id, c.paid_at, \
         tn.tx AS tx_new, tr.tx AS tx_ref, c.reward AS reward_wei, \
         CASE WHEN tn.state = 'failed' THEN 'the transfer to newOwner failed: ' || coalesce(tn.reason, '') \
             WHEN tr.state = 'failed' THEN 'the transfer to refOwner failed: ' || coalesce(tr.reason, '') \
             WHEN c.state = 'open' AND j.id IS NOT NULL THEN c.reason END AS reason \
         FROM referrals_claims c LEFT JOIN {ELIGIBLE} \
         LEFT JOIN referrals_agents n ON n.id = c.new_agent LEFT JOIN referrals_agents r ON r.id = c.ref_agent \
         LEFT JOIN referrals_transfers tn ON tn.new_agent = c.new_agent AND tn.side = 'new' \
         LEFT JOIN referrals_transfers tr ON tr.new_agent = c.new_agent AND tr.side = 'ref' {rest}"
    );
    sql(text).bind(min_job.sort_key())
}

pub async fn find(db: &impl Query, min_job: Wei, new_agent: AgentId) -> Result<Option<ReferralView>, HostError> {
    db.row(select(min_job, "WHERE c.new_agent = $2").bind(new_agent)).await
}

pub async fn newest(db: &impl Query, min_job: Wei, limit: u32) -> Result<Vec<ReferralView>, HostError> {
    db.rows(select(min_job, "ORDER BY c.claimed_at DESC, c.new_agent DESC LIMIT $2").bind(limit)).await
}

/// Those of one referrer, the newest first.
pub async fn of_referrer(
    db: &impl Query,
    min_job: Wei,
    ref_agent: AgentId,
    (limit, offset): (u32, u32),
) -> Result<Vec<ReferralView>, HostError> {
    let rest = "WHERE c.ref_agent = $2 ORDER BY c.claimed_at DESC, c.new_agent DESC LIMIT $3 OFFSET $4";
    db.rows(select(min_job, rest).bind((ref_agent, limit, offset))).await
}

/// Stores a claim; returns false when the agent has one.
pub async fn insert(tx: &Tx, claim: &Claim) -> Result<bool, HostError> {
    let Claim { new_agent, ref_agent, new_owner, ref_owner, reward } = claim;
    let insert = sql(
        "INSERT INTO referrals_claims (new_agent, ref_agent, new_owner, ref_owner, reward, claimed_at, state, retry_at) \
         VALUES ($1, $2, $3, $4, $5, $6, 'open', 0) ON CONFLICT (new_agent) DO NOTHING",
    );
    let insert = insert.bind((new_agent, ref_agent, new_owner, ref_owner, reward, tx.now_s()));
    Ok(tx.execute(insert).await? > 0)
}

const ELIGIBLE_COLUMNS: &str = "c.new_agent, c.ref_agent, c.new_owner, c.ref_owner, c.reward, j.id AS job_id, \
     j.completed_block AS block, j.completed_at AS eligible_at, j.tx_completed AS tx, c.released_at";

/// Open claims that are eligible by a job of a block up to `final_block`, and due: the oldest eligible first.
pub async fn payable(
    db: &impl Query,
    min_job: Wei,
    (final_block, now_s): (i64, i64),
    limit: u32,
) -> Result<Vec<Eligible>, HostError> {
    let text = format!(
        "SELECT {ELIGIBLE_COLUMNS} FROM referrals_claims c JOIN {ELIGIBLE} \
         WHERE c.state = 'open' AND c.retry_at <= $3 AND j.completed_block <= $2 \
         ORDER BY j.completed_at, c.new_agent LIMIT $4"
    );
    db.rows(sql(text).bind((min_job.sort_key(), final_block, now_s, limit))).await
}

/// The open claim with the job that makes it eligible now.
pub async fn eligible(db: &impl Query, min_job: Wei, new_agent: AgentId) -> Result<Option<Eligible>, HostError> {
    let text = format!(
        "SELECT {ELIGIBLE_COLUMNS} FROM referrals_claims c JOIN {ELIGIBLE} WHERE c.state = 'open' AND c.new_agent = $2"
    );
    db.row(sql(text).bind((min_job.sort_key(), new_agent))).await
}

/// Says of an open claim why it is not paid, and when to try again.
pub async fn hold(tx: &Tx, new_agent: AgentId, reason: &str, retry_at: i64) -> Result<(), HostError> {
    let update = sql("UPDATE referrals_claims SET reason = $2, retry_at = $3 WHERE new_agent = $1 AND state = 'open'");
    tx.execute(update.bind((new_agent, reason, retry_at))).await.map(drop)
}

/// Marks an open claim as sent; returns false when it is not open.
pub async fn set_sent(tx: &Tx, new_agent: AgentId, job: JobId, eligible_at: i64) -> Result<bool, HostError> {
    let update =
        sql("UPDATE referrals_claims SET state = 'sent', reason = NULL, job_id = $2, eligible_at = $3, sent_at = $4 \
         WHERE new_agent = $1 AND state = 'open'");
    Ok(tx.execute(update.bind((new_agent, job, eligible_at, tx.now_s()))).await? > 0)
}

/// Marks a sent claim as paid; returns false when it is not sent.
pub async fn set_paid(tx: &Tx, new_agent: AgentId) -> Result<bool, HostError> {
    let update =
        sql("UPDATE referrals_claims SET state = 'paid', paid_at = $2 WHERE new_agent = $1 AND state = 'sent'");
    Ok(tx.execute(update.bind((new_agent, tx.now_s()))).await? > 0)
}

/// Releases an open claim from the daily limit, and has it tried at once; returns false when it is not open.
pub async fn release(tx: &Tx, new_agent: AgentId) -> Result<bool, HostError> {
    let update = sql("UPDATE referrals_claims SET released_at = $2, reason = NULL, retry_at = 0 \
         WHERE new_agent = $1 AND state = 'open'");
    Ok(tx.execute(update.bind((new_agent, tx.now_s()))).await? > 0)
}
