//! A challenge with its ranking on axum and sqlx: the same tables, statements and answers as the gateway's, without a plugin in
//! between. It is open, and nobody submitted for an agent.

use super::{
    arena_vote,
    forum_rows::Author,
    signed::{Pools, SignedError},
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    routing::{get, post},
};
use gateway_clock::Clock;
use serde::Serialize;
use sqlx::{AssertSqlSafe, Row as _, SqlitePool, sqlite::SqliteRow, types::Json as Text};
use std::collections::BTreeMap;

pub const NAME: &str = "axum-arena";

const CHALLENGE: &str = "SELECT c.id, c.creator, c.title, c.brief, c.rules, c.prize, c.tags, c.created_at, c.ends_at, \
    c.closed_at, c.winner_id, c.submissions, c.votes, c.award_agent, c.award_job, c.awarded_at, l.job_id AS link_job, \
    l.agent_id AS link_agent, l.requested_at AS link_at FROM arena_challenges c LEFT JOIN arena_links l ON l.job_id = \
    (SELECT min(x.job_id) FROM arena_links x WHERE x.challenge_id = c.id AND x.client = c.creator) WHERE c.id = ?";
const SUBMISSIONS: &str = "SELECT s.id, s.challenge_id, s.submitter, s.agent_id, s.payload_hash, s.url, s.note, s.created_at, \
    s.votes, s.weight_sum, s.points FROM arena_submissions s";
const RANKING: &str = "s.points DESC, s.weight_sum, s.votes DESC, s.created_at, s.id";

pub async fn serve() -> anyhow::Result<()> {
    let app = Router::new()
        .route("/api/arena/challenges/{id}", get(get_challenge))
        .route("/api/arena/submissions/{id}/vote", post(vote_submission))
        .with_state(Pools::open().await?);
    Ok(axum::serve(super::listener().await?, app).await?)
}

async fn get_challenge(State(pools): State<Pools>, Path(id): Path<i64>) -> Result<Json<ContestDetail>, SignedError> {
    let db = &pools.readers;
    let due = "SELECT id FROM arena_challenges WHERE closed_at IS NULL AND ends_at <= ? AND id = ? ORDER BY ends_at, id LIMIT 20";
    let due = sqlx::query(due).bind(Clock::System.now_s()).bind(id).fetch_optional(db).await?;
    let challenge = sqlx::query(CHALLENGE).bind(id).fetch_optional(db).await?;
    let challenge = challenge.filter(|_| due.is_none()).ok_or(SignedError::Unknown)?;
    let ranked = format!("{SUBMISSIONS} WHERE s.challenge_id = ? ORDER BY {RANKING}");
    let ranked = sqlx::query(AssertSqlSafe(ranked)).bind(id).fetch_all(db).await?;
    let mut addresses: Vec<String> = ranked.iter().map(|row| row.try_get("submitter")).collect::<Result<_, _>>()?;
    addresses.push(challenge.try_get("creator")?);
    let authors = authors(db, &addresses).await?;
    let submissions = (1..).zip(&ranked).map(|(rank, row)| Submission::of(row, rank, &authors));
    Ok(Json(ContestDetail {
        submissions: submissions.collect::<Result<_, _>>()?,
        ..ContestDetail::of(&challenge, &authors)?
    }))
}

async fn vote_submission(
    State(pools): State<Pools>,
    Path(id): Path<i64>,
    body: Bytes,
) -> Result<Json<arena_vote::Voted>, SignedError> {
    Ok(Json(arena_vote::vote(&pools, id, &body).await?))
}

/// One submission.
pub async fn find(db: impl sqlx::SqliteExecutor<'_>, id: i64) -> Result<SqliteRow, SignedError> {
    let find = format!("{SUBMISSIONS} WHERE s.id = ?");
    sqlx::query(AssertSqlSafe(find)).bind(id).fetch_optional(db).await?.ok_or(SignedError::Unknown)
}

/// Agents that stand for addresses.
pub type Authors = BTreeMap<String, (i64, String)>;

pub async fn authors(db: &SqlitePool, addresses: &[String]) -> sqlx::Result<Authors> {
    let names = "SELECT owner, id, name FROM agents_agents WHERE owner IN (SELECT value FROM json_each(?)) ORDER BY active, id DESC";
    let rows = sqlx::query(names).bind(Text(addresses)).fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("owner")?, (row.try_get("id")?, row.try_get("name")?)))).collect()
}

fn author(address: String, authors: &Authors) -> Author {
    let agent = authors.get(&address).cloned();
    let (agent_id, name) = agent.map_or((None, None), |(id, name)| (Some(id), Some(name)));
    Author { address, name, agent_id }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContestDetail {
    id: i64,
    title: String,
    brief: String,
    rules: String,
    prize_wei: String,
    tags: Vec<String>,
    ends_at: i64,
    status: &'static str,
    creator: Author,
    author: Author,
    submission_count: i64,
    vote_count: i64,
    winner_submission_id: Option<i64>,
    winner: Option<Submission>,
    closed_at: Option<i64>,
    awarded_agent_id: Option<i64>,
    awarded_agent_name: Option<String>,
    job_id: Option<i64>,
    job_status: Option<String>,
    awarded_at: Option<i64>,
    created_at: i64,
    submissions: Vec<Submission>,
}

impl ContestDetail {
    fn of(row: &SqliteRow, authors: &Authors) -> sqlx::Result<Self> {
        let Text(tags) = row.try_get("tags")?;
        let creator: String = row.try_get("creator")?;
        Ok(Self {
            id: row.try_get("id")?,
            title: row.try_get("title")?,
            brief: row.try_get("brief")?,
            rules: row.try_get("rules")?,
            prize_wei: row.try_get("prize")?,
            tags,
            ends_at: row.try_get("ends_at")?,
            status: "open",
            creator: author(creator.clone(), authors),
            author: author(creator, authors),
            submission_count: row.try_get("submissions")?,
            vote_count: row.try_get("votes")?,
            winner_submission_id: row.try_get("winner_id")?,
            winner: None,
            closed_at: row.try_get("closed_at")?,
            awarded_agent_id: row.try_get("award_agent")?,
            awarded_agent_name: None,
            job_id: row.try_get("award_job")?,
            job_status: None,
            awarded_at: row.try_get("awarded_at")?,
            created_at: row.try_get("created_at")?,
            submissions: Vec::new(),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Submission {
    id: i64,
    challenge_id: i64,
    submitter: Author,
    author: Author,
    agent_id: Option<i64>,
    agent_name: Option<String>,
    agent: Option<i64>,
    payload_hash: Option<String>,
    #[serde(rename = "payloadURI")]
    payload_uri: Option<String>,
    url: Option<String>,
    note: String,
    created_at: i64,
    votes: i64,
    weight_sum: i64,
    score: Option<f64>,
    points: i64,
    rank: i64,
}

impl Submission {
    pub fn of(row: &SqliteRow, rank: i64, authors: &Authors) -> sqlx::Result<Self> {
        let (points, weight_sum): (i64, i64) = (row.try_get("points")?, row.try_get("weight_sum")?);
        let payload_hash: Option<String> = row.try_get("payload_hash")?;
        let submitter: String = row.try_get("submitter")?;
        Ok(Self {
            id: row.try_get("id")?,
            challenge_id: row.try_get("challenge_id")?,
            submitter: author(submitter.clone(), authors),
            author: author(submitter, authors),
            agent_id: row.try_get("agent_id")?,
            agent_name: None,
            agent: None,
            payload_uri: payload_hash.as_ref().map(|hash| format!("fmx://payload/{hash}")),
            payload_hash,
            url: row.try_get("url")?,
            note: row.try_get("note")?,
            created_at: row.try_get("created_at")?,
            votes: row.try_get("votes")?,
            weight_sum,
            score: mean(points, weight_sum),
            points,
            rank,
        })
    }
}

/// Two decimals.
#[allow(clippy::cast_precision_loss, reason = "a mean is at most 10")]
fn mean(points: i64, weight_sum: i64) -> Option<f64> {
    let hundredths = (weight_sum > 0).then(|| (points * 200 + weight_sum) / (weight_sum * 2))?;
    Some(hundredths as f64 / 100.0)
}
