//! Challenges: inserts, lists, details and counts.

use super::{submissions, votes};
use crate::{error::ArenaError, model};
use plugin_api::{
    Address, HostError, List, Query, Search, SearchIndex, Sql, Tx, Wei, json_text, point::LeaderboardInput, sql,
};
use serde::Deserialize;

/// What rules and events need of a challenge.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ChallengeRow {
    pub id: model::ChallengeId,
    pub creator: Address,
    pub title: String,
    pub brief: String,
    pub prize: Wei,
    #[serde(deserialize_with = "json_text")]
    pub tags: Vec<String>,
    pub created_at: i64,
    pub ends_at: i64,
    pub closed_at: Option<i64>,
    pub winner_id: Option<model::SubmissionId>,
    pub submissions: i64,
}

pub const ROW_COLUMNS: &str =
    "id, creator, title, brief, prize, tags, created_at, ends_at, closed_at, winner_id, submissions";
/// The same, closed by a job of the creator as well.
const ROWS: List = List::new(
    "arena_challenges c",
    "c.id, c.creator, c.title, c.brief, c.prize, c.tags, c.created_at, c.ends_at, coalesce(c.closed_at, \
        (SELECT min(l.requested_at) FROM arena_links l WHERE l.challenge_id = c.id AND l.client = c.creator)) \
        AS closed_at, c.winner_id, c.submissions",
);
/// No job of the creator has closed it.
const NOT_HIRED: &str = "NOT EXISTS (SELECT 1 FROM arena_links l WHERE l.challenge_id = c.id AND l.client = c.creator)";

impl ChallengeRow {
    pub fn check_open(&self, now_s: i64) -> Result<(), ArenaError> {
        let is_open = self.closed_at.is_none() && now_s < self.ends_at;
        if is_open { Ok(()) } else { Err(ArenaError::Closed { ends_at: self.ends_at }) }
    }
}

pub async fn find(db: &impl Query, challenge: model::ChallengeId) -> Result<Option<ChallengeRow>, HostError> {
    Ok(ROWS.filter("c.id = {}", Some(challenge)).rows(db).await?.pop())
}

/// Open challenges, newest first.
pub fn open(now_s: i64) -> List {
    ROWS.filter_if(true, "c.closed_at IS NULL")
        .filter_if(true, NOT_HIRED)
        .filter("c.ends_at > {}", Some(now_s))
        // `+` makes SQLite find the few open ones by their deadline and sort them, instead of reading all in order.
        .order_by("+c.created_at DESC, c.id DESC")
}

pub async fn insert(tx: &Tx, creator: Address, draft: &model::ChallengeDraft) -> Result<model::ChallengeId, HostError> {
    let insert = sql("INSERT INTO arena_challenges \
            (creator, title, brief, rules, prize, tags, created_at, ends_at, submissions, votes) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0) RETURNING id")
    .bind((creator, &draft.title, &draft.brief, &draft.rules, draft.prize))
    .bind((serde_json::Value::from(draft.tags.clone()).to_string(), tx.now_s(), draft.ends_at));
    let id: model::ChallengeId = tx.one(insert).await?;
    if let Some(tags) = Sql::insert_rows("arena_tags", "tag, challenge_id", draft.tags.iter().map(|tag| (tag, id))) {
        tx.defer(tags)?;
    }
    Ok(id)
}

/// Rows that decode as [`model::ChallengeView`]s without their winners.
///
/// `l` is the award by a job: the first job of the creator that cites the challenge, unless the signed award names a job. One that
/// was requested before `endsAt` closes the challenge. A paying job that is indexed as somebody else's, or for another agent, is not shown.
const VIEWS: List = List::new(
    "arena_challenges c LEFT JOIN arena_links l ON c.award_job IS NULL AND l.job_id = \
        (SELECT min(x.job_id) FROM arena_links x WHERE x.challenge_id = c.id AND x.client = c.creator)",
    "c.id, c.title, c.brief, c.rules, c.prize AS prize_wei, c.tags, c.ends_at, \
        CASE WHEN c.closed_at IS NULL AND l.job_id IS NULL THEN 'open' WHEN coalesce(l.agent_id, c.award_agent) IS NULL THEN 'closed' \
            ELSE 'awarded' END AS status, \
        c.creator, c.creator AS author, c.submissions AS submission_count, c.votes AS vote_count, \
        c.winner_id AS winner_submission_id, \
        coalesce(c.closed_at, CASE WHEN l.requested_at < c.ends_at THEN l.requested_at WHEN l.requested_at >= c.ends_at \
            THEN c.ends_at END) AS closed_at, coalesce(l.agent_id, c.award_agent) AS awarded_agent_id, \
        (SELECT a.name FROM agents_v1 a WHERE a.agent_id = coalesce(l.agent_id, c.award_agent)) AS awarded_agent_name, \
        CASE WHEN EXISTS (SELECT 1 FROM jobs_v1 j WHERE j.job_id = coalesce(l.job_id, c.award_job) \
                AND (j.client <> c.creator OR j.agent_id <> coalesce(l.agent_id, c.award_agent))) THEN NULL \
            ELSE coalesce(l.job_id, c.award_job) END AS job_id, \
        (SELECT j.status FROM jobs_v1 j WHERE j.job_id = coalesce(l.job_id, c.award_job) \
            AND j.client = c.creator AND j.agent_id = coalesce(l.agent_id, c.award_agent)) AS job_status, \
        coalesce(c.awarded_at, CASE WHEN l.requested_at < c.closed_at THEN c.closed_at ELSE l.requested_at END) \
            AS awarded_at, \
        c.created_at",
);

/// Selects the number of all challenges.
const ALL: &str = "SELECT row_count FROM arena_challenges_counts";
/// No job awards it: `l` of [`VIEWS`] is absent.
const IS_UNPAID: &str = "(c.award_job IS NOT NULL OR NOT EXISTS (SELECT 1 FROM arena_links l \
    WHERE l.challenge_id = c.id AND l.client = c.creator))";

/// Open challenges, the soonest deadline first, or closed ones, the latest deadline first; all without `is_open`, the open
/// ones first. The caller must have closed the challenges that are due.
pub fn list(is_open: Option<bool>, tag: Option<String>, search: Option<Search>) -> List {
    let total = match (is_open, &tag, &search) {
        (None, None, None) => Some(sql(ALL)),
        // Few are open.
        (Some(false), None, None) => Some(sql(format!(
            "SELECT ({ALL}) - (SELECT count(*) FROM arena_challenges c WHERE c.closed_at IS NULL AND {IS_UNPAID})"
        ))),
        _ => None,
    };
    VIEWS
        .stored_total(total)
        .filter_if(is_open == Some(true), "c.closed_at IS NULL AND l.job_id IS NULL")
        .filter_if(is_open == Some(false), "(c.closed_at IS NOT NULL OR l.job_id IS NOT NULL)")
        .filter("c.id IN (SELECT challenge_id FROM arena_tags WHERE tag = {})", tag)
        .search(search, "c.id", &SearchIndex::new("arena_challenges", &["title", "brief"]))
        .order_by(match is_open {
            Some(true) => "c.ends_at, c.id DESC",
            Some(false) => "c.ends_at DESC, c.id DESC",
            // An index has this order. A challenge that a job closed is among the open ones until its award is published.
            None => "c.closed_at NULLS FIRST, c.ends_at, c.id DESC",
        })
}

/// A challenge with all submissions, and the viewer's score of each.
pub async fn find_detail(
    db: &impl Query,
    challenge: model::ChallengeId,
    viewer: Option<Address>,
) -> Result<Option<model::ChallengeDetail>, HostError> {
    let found: Option<model::ChallengeView> = VIEWS.filter("c.id = {}", Some(challenge)).rows(db).await?.pop();
    let Some(mut challenge) = found else { return Ok(None) };
    let mut submissions = submissions::of_challenge(db, challenge.id).await?;
    let my_votes = match viewer {
        Some(viewer) => Some(votes::of_voter(db, challenge.id, viewer).await?),
        None => None,
    };
    for submission in &mut submissions {
        submission.my_vote = my_votes.as_ref().map(|votes| votes.get(&submission.id.to_string()).copied());
    }
    let winner = submissions.iter().find(|submission| challenge.winner_submission_id == Some(submission.id));
    challenge.winner = winner.cloned();
    Ok(Some(model::ChallengeDetail { challenge, submissions, viewer, my_votes }))
}

/// Number of challenges that each address won. A win counts when the challenge closes.
pub async fn count_wins(db: &impl Query, input: &LeaderboardInput) -> Result<Vec<(Address, u64)>, HostError> {
    let wins =
        sql("SELECT s.submitter, count(*) FROM arena_challenges c JOIN arena_submissions s ON s.id = c.winner_id \
         WHERE c.closed_at >= $1");
    db.rows(input.select(wins.bind(input.since()), "s.submitter", "count(*) DESC")).await
}
