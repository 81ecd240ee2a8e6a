//! Awards: those that creators sign, and jobs that cite challenges.

use crate::model::{Award, ChallengeId, SubmissionId};
use plugin_api::{Address, AgentId, HostError, JobId, Query, Tx, Wei, contracts::escrow::JobRequested, sql};
use serde::Deserialize;

/// Stores a signed award. The last one counts; the time of the first one remains. A challenge that a job closed stays closed.
pub async fn store_signed(tx: &Tx, challenge: ChallengeId, award: Award) -> Result<(), HostError> {
    let store = sql("UPDATE arena_challenges SET award_agent = $2, award_job = $3, \
            awarded_at = coalesce(awarded_at, $4), closed_at = coalesce(closed_at, (SELECT min(l.requested_at) \
            FROM arena_links l WHERE l.challenge_id = $1 AND l.client = arena_challenges.creator)) WHERE id = $1");
    let store = store.bind((challenge, award.agent_id, award.job_id, tx.now_s()));
    tx.execute(store).await.map(drop)
}

/// Stores that a job cites the challenge. The table is derived: only handlers of chain events write it.
pub fn insert_link(tx: &Tx, challenge: ChallengeId, job: &JobRequested, requested_at: i64) -> Result<(), HostError> {
    let insert = sql("INSERT INTO arena_links (job_id, challenge_id, client, agent_id, requested_at) \
            VALUES ($1, $2, $3, $4, $5)");
    tx.defer(insert.bind((job.job_id, challenge, job.client, job.agent_id, requested_at)))
}

/// An award by a job: the first job of the creator that cites the challenge.
#[derive(Debug, Deserialize)]
pub struct JobAward {
    pub challenge_id: ChallengeId,
    pub creator: Address,
    pub title: String,
    pub prize: Wei,
    pub winner_id: Option<SubmissionId>,
    /// The creator's earlier signed award.
    pub award_agent: Option<AgentId>,
    pub awarded_at: Option<i64>,
    pub job_id: JobId,
    pub agent_id: AgentId,
    pub agent_name: Option<String>,
}

/// Awards that are not published yet, and whose job is public.
pub async fn unannounced(db: &impl Query, limit: u32) -> Result<Vec<JobAward>, HostError> {
    let unannounced = sql("SELECT c.id AS challenge_id, c.creator, c.title, c.prize, c.winner_id, c.award_agent, \
            c.awarded_at, l.job_id, l.agent_id, \
            (SELECT a.name FROM agents_v1 a WHERE a.agent_id = l.agent_id) AS agent_name \
        FROM arena_challenges c JOIN arena_links l ON l.job_id = \
            (SELECT min(x.job_id) FROM arena_links x WHERE x.challenge_id = c.id AND x.client = c.creator) \
        WHERE (c.closed_at IS NOT NULL OR l.requested_at < c.ends_at) AND c.award_job IS NULL \
            AND (c.announced_job IS NULL OR c.announced_job <> l.job_id) \
            AND EXISTS (SELECT 1 FROM host_activity_v1 e WHERE e.type = 'job.requested' AND e.ref_kind = 'job' \
                AND e.ref_id = cast(l.job_id AS text)) \
        ORDER BY c.id LIMIT $1");
    db.rows(unannounced.bind(limit)).await
}

/// Whether this call marked the award as published, and no other gateway did. The time at which the job closed the challenge is
/// stored with it, for the order of lists.
pub async fn mark_announced(tx: &Tx, award: &JobAward) -> Result<bool, HostError> {
    let mark = sql("UPDATE arena_challenges SET announced_job = $2, closed_at = coalesce(closed_at, \
                (SELECT l.requested_at FROM arena_links l WHERE l.job_id = $2)) \
            WHERE id = $1 AND (announced_job IS NULL OR announced_job <> $2)");
    Ok(tx.execute(mark.bind((award.challenge_id, award.job_id))).await? > 0)
}

/// Challenges with a published award whose job is no longer part of the chain.
pub async fn undone(db: &impl Query, limit: u32) -> Result<Vec<ChallengeId>, HostError> {
    db.rows(sql(format!("SELECT id FROM arena_challenges WHERE {IS_UNDONE} ORDER BY id LIMIT $1")).bind(limit)).await
}

/// Takes back what [`mark_announced`] stored, where the job is gone.
pub async fn forget_announced(tx: &Tx, challenge: ChallengeId) -> Result<(), HostError> {
    let forget = sql(format!(
        "UPDATE arena_challenges SET closed_at = CASE WHEN closed_at < ends_at THEN NULL ELSE closed_at END, \
         announced_job = NULL WHERE id = $1 AND {IS_UNDONE}"
    ));
    tx.execute(forget.bind(challenge)).await.map(drop)
}

const IS_UNDONE: &str = "announced_job IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM arena_links l WHERE l.job_id = arena_challenges.announced_job)";
