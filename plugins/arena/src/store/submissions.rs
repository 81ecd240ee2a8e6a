//! Submissions: inserts, and reads by rank.

use crate::model::{ChallengeId, SubmissionId, SubmissionView};
use plugin_api::{Address, AgentId, HostError, List, Query, Tx, content::Content, sql};

/// Rows that decode as [`SubmissionView`]s; [`SubmissionView::ranked`] adds the rest.
const COLUMNS: &str = "s.id, s.challenge_id, s.submitter, s.submitter AS author, s.agent_id, \
    (SELECT a.name FROM agents_v1 a WHERE a.agent_id = s.agent_id) AS agent_name, \
    s.payload_hash, s.url, s.note, s.created_at, s.votes, s.weight_sum, s.points, 1 AS rank";

/// Points, then the mean (of equal points, fewer weights mean a higher one), votes, and the earlier submission.
pub const RANKING: &str = "s.points DESC, s.weight_sum, s.votes DESC, s.created_at, s.id";

const SUBMISSIONS: List = List::new("arena_submissions s", COLUMNS).order_by(RANKING);

/// A checked submission.
pub struct SubmissionDraft {
    pub challenge: ChallengeId,
    pub submitter: Address,
    pub agent: Option<AgentId>,
    pub content: Content,
    pub note: String,
}

/// `None` when the submitter has a submission already.
pub async fn insert(tx: &Tx, draft: &SubmissionDraft) -> Result<Option<SubmissionId>, HostError> {
    let insert = sql("INSERT INTO arena_submissions \
            (challenge_id, submitter, agent_id, payload_hash, url, note, created_at, votes, weight_sum, points) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, 0) ON CONFLICT (challenge_id, submitter) DO NOTHING RETURNING id")
    .bind((draft.challenge, draft.submitter, draft.agent, draft.content.payload, draft.content.url.clone()))
    .bind((&draft.note, tx.now_s()));
    let id: Option<SubmissionId> = tx.row(insert).await?;
    if id.is_some() {
        let count = sql("UPDATE arena_challenges SET submissions = submissions + 1 WHERE id = $1");
        tx.execute(count.bind(draft.challenge)).await?;
    }
    Ok(id)
}

/// Challenge and submitter, which never change.
pub async fn find_origin(
    db: &impl Query,
    submission: SubmissionId,
) -> Result<Option<(ChallengeId, Address)>, HostError> {
    db.row(sql("SELECT challenge_id, submitter FROM arena_submissions WHERE id = $1").bind(submission)).await
}

pub async fn find(db: &impl Query, submission: SubmissionId) -> Result<Option<SubmissionView>, HostError> {
    let found: Option<SubmissionView> = SUBMISSIONS.filter("s.id = {}", Some(submission)).rows(db).await?.pop();
    let Some(found) = found else { return Ok(None) };
    // The order of RANKING: negative where it descends.
    let rank = sql("SELECT count(*) + 1 FROM arena_submissions s \
        JOIN arena_submissions b ON b.challenge_id = s.challenge_id WHERE s.id = $1 \
            AND (-b.points, b.weight_sum, -b.votes, b.created_at, b.id) \
            < (-s.points, s.weight_sum, -s.votes, s.created_at, s.id)");
    let rank = db.one(rank.bind(submission)).await?;
    Ok(Some(found.ranked(rank)))
}

/// Winning submissions, in any order: each is the first of its challenge.
pub async fn winners(db: &impl Query, winners: &[SubmissionId]) -> Result<Vec<SubmissionView>, HostError> {
    if winners.is_empty() {
        return Ok(Vec::new());
    }
    let select = sql(format!("SELECT {COLUMNS} FROM arena_submissions s WHERE s.id"));
    let winners: Vec<SubmissionView> = db.rows(select.push_in(winners.iter().copied())).await?;
    Ok(winners.into_iter().map(|winner| winner.ranked(1)).collect())
}

/// All submissions of a challenge, the best first.
pub async fn of_challenge(db: &impl Query, challenge: ChallengeId) -> Result<Vec<SubmissionView>, HostError> {
    let submissions: Vec<SubmissionView> = SUBMISSIONS.filter("s.challenge_id = {}", Some(challenge)).rows(db).await?;
    Ok((1..).zip(submissions).map(|(rank, submission)| submission.ranked(rank)).collect())
}
