//! Submissions: inserts, and reads by rank.

use super::placeholders;
use crate::model::{AgentId, ChallengeId, SubmissionId};
use plugin_api::{Address, Content, Hash256, HostError, Query, Sql, Tx, sql};
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SubmissionRow {
    pub id: SubmissionId,
    pub challenge_id: ChallengeId,
    pub submitter: Address,
    pub agent_id: Option<AgentId>,
    pub payload_hash: Option<Hash256>,
    pub url: Option<String>,
    pub note: String,
    pub created_at: i64,
    pub votes: i64,
    pub weight_sum: i64,
    pub points: i64,
}

const COLUMNS: &str = "s.id, s.challenge_id, s.submitter, s.agent_id, s.payload_hash, s.url, s.note, s.created_at, s.votes, \
    s.weight_sum, s.points";

/// Points, then the mean (of equal points, fewer weights mean a higher one), votes, and the earlier submission.
pub const RANKING: &str = "s.points DESC, s.weight_sum, s.votes DESC, s.created_at, s.id";

pub struct Entry<'a> {
    pub challenge: ChallengeId,
    pub submitter: Address,
    pub agent: Option<AgentId>,
    pub content: &'a Content,
    pub note: &'a str,
}

/// `None` when the submitter has a submission already.
pub async fn insert(tx: &Tx, entry: &Entry<'_>, now_s: i64) -> Result<Option<SubmissionId>, HostError> {
    let insert = sql("INSERT INTO arena_submissions \
            (challenge_id, submitter, agent_id, payload_hash, url, note, created_at, votes, weight_sum, points) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, 0) ON CONFLICT (challenge_id, submitter) DO NOTHING RETURNING id")
    .bind(entry.challenge)
    .bind(entry.submitter)
    .bind(entry.agent)
    .bind(entry.content.payload)
    .bind(entry.content.url.clone())
    .bind(entry.note)
    .bind(now_s);
    let id: Option<SubmissionId> = tx.row(insert).await?;
    if id.is_some() {
        let count = sql("UPDATE arena_challenges SET submissions = submissions + 1 WHERE id = $1");
        tx.execute(count.bind(entry.challenge)).await?;
    }
    Ok(id)
}

pub async fn find(db: &impl Query, submission: SubmissionId) -> Result<Option<SubmissionRow>, HostError> {
    db.row(sql(format!("SELECT {COLUMNS} FROM arena_submissions s WHERE s.id = $1")).bind(submission)).await
}

/// Submissions with these ids, in any order.
pub async fn some(db: &impl Query, ids: &[SubmissionId]) -> Result<Vec<SubmissionRow>, HostError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let text = format!("SELECT {COLUMNS} FROM arena_submissions s WHERE s.id IN ({})", placeholders(1, ids.len()));
    db.rows(ids.iter().copied().fold(sql(text), Sql::bind)).await
}

/// All submissions of a challenge, the best first.
pub async fn ranked(db: &impl Query, challenge: ChallengeId) -> Result<Vec<SubmissionRow>, HostError> {
    let text = format!("SELECT {COLUMNS} FROM arena_submissions s WHERE s.challenge_id = $1 ORDER BY {RANKING}");
    db.rows(sql(text).bind(challenge)).await
}

/// The rank of a submission, from 1.
pub async fn rank(db: &impl Query, row: &SubmissionRow) -> Result<i64, HostError> {
    let better = sql("SELECT count(*) FROM arena_submissions s WHERE s.challenge_id = $1 AND (s.points > $2 \
         OR (s.points = $2 AND (s.weight_sum < $3 OR (s.weight_sum = $3 AND (s.votes > $4 \
         OR (s.votes = $4 AND (s.created_at < $5 OR (s.created_at = $5 AND s.id < $6))))))))")
    .bind(row.challenge_id)
    .bind(row.points)
    .bind(row.weight_sum)
    .bind(row.votes)
    .bind(row.created_at)
    .bind(row.id);
    Ok(db.one::<i64>(better).await? + 1)
}
