//! Votes: one per address and submission; the last one counts.

use crate::model::{ChallengeId, SubmissionId};
use plugin_api::{Address, HostError, Query, Tx, sql};
use std::collections::BTreeMap;

pub struct Vote {
    pub challenge: ChallengeId,
    pub submission: SubmissionId,
    pub voter: Address,
    pub score: i64,
    pub weight: i64,
}

/// Counts a vote in place of the voter's earlier one; returns whether there was one.
pub async fn count(tx: &Tx, vote: &Vote) -> Result<bool, HostError> {
    let before = sql("SELECT score, weight FROM arena_votes WHERE submission_id = $1 AND voter = $2");
    let before: Option<(i64, i64)> = tx.row(before.bind((vote.submission, vote.voter))).await?;
    let store = sql("INSERT INTO arena_votes (submission_id, voter, challenge_id, score, weight, voted_at) \
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (submission_id, voter) DO UPDATE \
            SET score = excluded.score, weight = excluded.weight, voted_at = excluded.voted_at")
    .bind((vote.submission, vote.voter, vote.challenge, vote.score, vote.weight, tx.now_s()));
    let (old_score, old_weight) = before.unwrap_or_default();
    let is_new = i64::from(before.is_none());
    let sums =
        sql("UPDATE arena_submissions SET votes = votes + $2, weight_sum = weight_sum + $3, points = points + $4 \
            WHERE id = $1")
        .bind((vote.submission, is_new, vote.weight - old_weight))
        .bind(vote.score * vote.weight - old_score * old_weight);
    let total = sql("UPDATE arena_challenges SET votes = votes + $2 WHERE id = $1").bind((vote.challenge, is_new));
    tx.batch(vec![store, sums, total]).await?;
    Ok(before.is_some())
}

/// The scores of an address in a challenge, by submission.
pub async fn of_voter(
    db: &impl Query,
    challenge: ChallengeId,
    voter: Address,
) -> Result<BTreeMap<String, i64>, HostError> {
    let scores = sql("SELECT submission_id, score FROM arena_votes WHERE challenge_id = $1 AND voter = $2");
    let scores: Vec<(SubmissionId, i64)> = db.rows(scores.bind((challenge, voter))).await?;
    Ok(scores.into_iter().map(|(submission, score)| (submission.to_string(), score)).collect())
}
