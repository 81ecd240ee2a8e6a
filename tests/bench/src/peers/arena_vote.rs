//! A vote on axum and sqlx: the checks of the gateway, then its statements in one transaction.

use super::{
    arena::{self, Submission},
    signed::{self, Pools, SignedError},
};
use axum::http::StatusCode;
use gateway_clock::Clock;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::{Row as _, SqliteConnection};

#[derive(Deserialize)]
struct NewVote {
    score: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Voted {
    #[serde(flatten)]
    submission: Submission,
    your_vote: YourVote,
}

#[derive(Serialize)]
struct YourVote {
    score: i64,
    weight: i64,
    updated: bool,
}

pub async fn vote(pools: &Pools, id: i64, body: &[u8]) -> Result<Voted, SignedError> {
    let (signed, NewVote { score }) = signed::check(body, "arena.vote")?;
    let row = arena::find(&pools.readers, id).await?;
    let (challenge, submitter): (i64, String) = (row.try_get("challenge_id")?, row.try_get("submitter")?);
    let authors = arena::authors(&pools.readers, std::slice::from_ref(&submitter)).await?;
    let now_s = Clock::System.now_s();
    let mut tx = pools.writer.begin().await?;
    let open = "SELECT title FROM arena_challenges WHERE id = ? AND closed_at IS NULL AND ends_at > ?";
    let open = sqlx::query_scalar(open).bind(challenge).bind(now_s).fetch_optional(&mut *tx).await?;
    let title: String = open.ok_or(SignedError::Refused(StatusCode::CONFLICT, "the challenge is closed"))?;
    if !(1..=10).contains(&score) || submitter == signed.signer {
        return Err(SignedError::Refused(StatusCode::BAD_REQUEST, "score or voter are not as they must be"));
    }
    let voter = signed::guard(&mut tx, signed).await?;
    let (weight, updated) = count(&mut tx, challenge, id, &voter, score, now_s).await?;
    let data = json!({
        "challengeId": challenge, "title": title, "submissionId": id, "score": score, "weight": weight, "updated": updated,
    });
    signed::publish(&mut tx, "arena.vote", now_s, &voter, ("challenge", challenge), data).await?;
    let row = arena::find(&mut *tx, id).await?;
    let better = "SELECT count(*) FROM arena_submissions s, arena_submissions own WHERE own.id = ? \
        AND s.challenge_id = own.challenge_id AND (-s.points, s.weight_sum, -s.votes, s.created_at, s.id) \
        < (-own.points, own.weight_sum, -own.votes, own.created_at, own.id)";
    let better: i64 = sqlx::query_scalar(better).bind(id).fetch_one(&mut *tx).await?;
    tx.commit().await?;
    let submission = Submission::of(&row, better + 1, &authors)?;
    Ok(Voted { submission, your_vote: YourVote { score, weight, updated } })
}

/// The vote in the place of the one before; answers its weight, and whether there was one before.
async fn count(
    tx: &mut SqliteConnection,
    challenge: i64,
    submission: i64,
    voter: &str,
    score: i64,
    now_s: i64,
) -> sqlx::Result<(i64, bool)> {
    let active = "SELECT agent_id FROM agents_v1 WHERE owner = ? AND status = 'Active' LIMIT 1";
    let active: Option<i64> = sqlx::query_scalar(active).bind(voter).fetch_optional(&mut *tx).await?;
    let weight = if active.is_some() { 2 } else { 1 };
    let before = "SELECT score, weight FROM arena_votes WHERE submission_id = ? AND voter = ?";
    let before: Option<(i64, i64)> =
        sqlx::query_as(before).bind(submission).bind(voter).fetch_optional(&mut *tx).await?;
    let (old_score, old_weight) = before.unwrap_or_default();
    let is_new = i64::from(before.is_none());
    let store = "INSERT INTO arena_votes (submission_id, voter, challenge_id, score, weight, voted_at) \
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (submission_id, voter) DO UPDATE \
        SET score = excluded.score, weight = excluded.weight, voted_at = excluded.voted_at";
    let store = sqlx::query(store).bind(submission).bind(voter).bind(challenge).bind(score).bind(weight).bind(now_s);
    store.execute(&mut *tx).await?;
    let sums =
        "UPDATE arena_submissions SET votes = votes + ?, weight_sum = weight_sum + ?, points = points + ? WHERE id = ?";
    let sums = sqlx::query(sums).bind(is_new).bind(weight - old_weight).bind(score * weight - old_score * old_weight);
    sums.bind(submission).execute(&mut *tx).await?;
    let total = sqlx::query("UPDATE arena_challenges SET votes = votes + ? WHERE id = ?").bind(is_new).bind(challenge);
    total.execute(&mut *tx).await?;
    Ok((weight, before.is_some()))
}
