//! Challenges: inserts, reads, lists and awards.

use crate::model::{AgentId, ChallengeDraft, ChallengeId, JobId, Status, SubmissionId};
use plugin_api::{Address, HostError, Query, Search, Sql, Tx, Wei, json_text, sql};
use serde::Deserialize;

/// A challenge with the first job of its creator that cites it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ChallengeRow {
    pub id: ChallengeId,
    pub creator: Address,
    pub title: String,
    pub brief: String,
    pub rules: String,
    pub prize: Wei,
    #[serde(deserialize_with = "json_text")]
    pub tags: Vec<String>,
    pub created_at: i64,
    pub ends_at: i64,
    pub closed_at: Option<i64>,
    pub winner_id: Option<SubmissionId>,
    pub submissions: i64,
    pub votes: i64,
    pub award_agent: Option<AgentId>,
    pub award_job: Option<JobId>,
    pub awarded_at: Option<i64>,
    pub link_job: Option<JobId>,
    pub link_agent: Option<AgentId>,
    pub link_at: Option<i64>,
}

/// The awarded agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awardee {
    pub agent: AgentId,
    pub job: Option<JobId>,
    pub at: i64,
}

impl ChallengeRow {
    /// The award that the creator signed, with the citing job when the award names none. `None` before the challenge is
    /// closed.
    pub fn awardee(&self) -> Option<Awardee> {
        let closed_at = self.closed_at?;
        let linked = self.link_job.zip(self.link_agent).filter(|_| self.award_job.is_none());
        let signed = self.award_agent.zip(self.awarded_at);
        let linked_at = || self.link_at.unwrap_or_default().max(closed_at);
        match (signed, linked) {
            (None, None) => None,
            (Some((agent, at)), None) => Some(Awardee { agent, job: self.award_job, at }),
            (_, Some((job, agent))) => {
                Some(Awardee { agent, job: Some(job), at: signed.map_or_else(linked_at, |(_, at)| at) })
            }
        }
    }
}

const COLUMNS: &str = "c.id, c.creator, c.title, c.brief, c.rules, c.prize, c.tags, c.created_at, c.ends_at, c.closed_at, \
    c.winner_id, c.submissions, c.votes, c.award_agent, c.award_job, c.awarded_at, \
    l.job_id AS link_job, l.agent_id AS link_agent, l.requested_at AS link_at";

const FROM: &str = "arena_challenges c LEFT JOIN arena_links l ON l.job_id = \
    (SELECT min(x.job_id) FROM arena_links x WHERE x.challenge_id = c.id AND x.client = c.creator)";

pub async fn insert(tx: &Tx, creator: Address, draft: &ChallengeDraft, now_s: i64) -> Result<ChallengeId, HostError> {
    let tags = serde_json::Value::from(draft.tags.clone()).to_string();
    let insert = sql("INSERT INTO arena_challenges \
            (creator, title, brief, rules, prize, tags, created_at, ends_at, submissions, votes) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0) RETURNING id")
    .bind(creator)
    .bind(&draft.title)
    .bind(&draft.brief)
    .bind(&draft.rules)
    .bind(draft.prize)
    .bind(tags)
    .bind(now_s)
    .bind(draft.ends_at);
    let id: ChallengeId = tx.one(insert).await?;
    for tag in &draft.tags {
        tx.defer(sql("INSERT INTO arena_tags (tag, challenge_id) VALUES ($1, $2)").bind(tag).bind(id))?;
    }
    Ok(id)
}

pub async fn find(db: &impl Query, challenge: ChallengeId) -> Result<Option<ChallengeRow>, HostError> {
    db.row(sql(format!("SELECT {COLUMNS} FROM {FROM} WHERE c.id = $1")).bind(challenge)).await
}

/// The last award counts; the time of the first one remains.
pub async fn award(
    tx: &Tx,
    challenge: ChallengeId,
    agent: AgentId,
    job: Option<JobId>,
    now_s: i64,
) -> Result<(), HostError> {
    let award = sql("UPDATE arena_challenges SET award_agent = $2, award_job = $3, \
            awarded_at = coalesce(awarded_at, $4) WHERE id = $1");
    tx.execute(award.bind(challenge).bind(agent).bind(job).bind(now_s)).await.map(drop)
}

/// Selects challenges.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Closed challenges are those that are not open, awarded or not.
    pub status: Option<Status>,
    /// Searched in title and brief.
    pub search: Option<Search>,
    /// Normalised as in storage: trimmed, lower case.
    pub tag: Option<String>,
}

/// A page, and the total number of matches.
pub async fn list(
    db: &impl Query,
    filter: &Filter,
    limit: u32,
    offset: u32,
) -> Result<(Vec<ChallengeRow>, i64), HostError> {
    let total = db.one(matching("SELECT count(*) FROM arena_challenges c".to_owned(), filter)).await?;
    let order = match filter.status {
        Some(Status::Closed | Status::Awarded) => "c.ends_at DESC, c.id DESC",
        Some(Status::Open) => "c.ends_at, c.id DESC",
        None => "CASE WHEN c.closed_at IS NULL THEN 0 ELSE 1 END, c.ends_at, c.id DESC",
    };
    let page = matching(format!("SELECT {COLUMNS} FROM {FROM}"), filter)
        .push(" ORDER BY ")
        .push(order)
        .push_bind(" LIMIT {}", limit)
        .push_bind(" OFFSET {}", offset);
    Ok((db.rows(page).await?, total))
}

/// The caller must have closed the challenges that are due.
fn matching(select: String, filter: &Filter) -> Sql {
    let status = match filter.status {
        None => " WHERE 1 = 1",
        Some(Status::Open) => " WHERE c.closed_at IS NULL",
        Some(Status::Closed | Status::Awarded) => " WHERE c.closed_at IS NOT NULL",
    };
    let mut statement = sql(select).push(status);
    if let Some(tag) = &filter.tag {
        let tagged = " AND c.id IN (SELECT challenge_id FROM arena_tags WHERE tag = {})";
        statement = statement.push_bind(tagged, tag);
    }
    if let Some(search) = &filter.search {
        let (title, brief) = (search.condition("c.title", "{}"), search.condition("c.brief", "{}"));
        statement = statement.push_bind(&format!(" AND ({title} OR {brief})"), search.needle());
    }
    statement
}

/// Open challenges, newest first; only this one when `only` is given.
pub async fn open(
    db: &impl Query,
    only: Option<ChallengeId>,
    now_s: i64,
    limit: u32,
) -> Result<Vec<ChallengeRow>, HostError> {
    let open = sql(format!("SELECT {COLUMNS} FROM {FROM} WHERE c.closed_at IS NULL AND c.ends_at > $1")).bind(now_s);
    let open = match only {
        Some(challenge) => open.push_bind(" AND c.id = {}", challenge),
        None => open,
    };
    db.rows(open.push_bind(" ORDER BY c.created_at DESC, c.id DESC LIMIT {}", limit)).await
}

pub async fn count_open(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM arena_challenges WHERE closed_at IS NULL AND ends_at > $1").bind(now_s)).await
}

/// Closed challenges with a citing job whose award is not published yet and whose request is public, hence final.
pub async fn unannounced(db: &impl Query, limit: u32) -> Result<Vec<ChallengeRow>, HostError> {
    let public = "EXISTS (SELECT 1 FROM host_activity_v1 e WHERE e.type = 'job.requested' AND e.ref_kind = 'job' \
         AND e.ref_id = cast(l.job_id AS text))";
    let unannounced = format!(
        "SELECT {COLUMNS} FROM {FROM} WHERE c.closed_at IS NOT NULL AND c.award_job IS NULL AND l.job_id IS NOT NULL \
         AND (c.announced_job IS NULL OR c.announced_job <> l.job_id) AND {public} ORDER BY c.id LIMIT $1"
    );
    db.rows(sql(unannounced).bind(limit)).await
}

/// Whether this call marked it as published, and no other gateway did.
pub async fn announce(tx: &Tx, challenge: ChallengeId, job: JobId) -> Result<bool, HostError> {
    let announce = sql("UPDATE arena_challenges SET announced_job = $2 \
            WHERE id = $1 AND (announced_job IS NULL OR announced_job <> $2)");
    Ok(tx.execute(announce.bind(challenge).bind(job)).await? > 0)
}

/// Number of challenges that each address won, of those that closed since that second; of all when it is absent.
pub async fn count_wins(db: &impl Query, since_s: Option<i64>) -> Result<Vec<(Address, u64)>, HostError> {
    let all = "SELECT s.submitter, count(*) FROM arena_challenges c JOIN arena_submissions s ON s.id = c.winner_id";
    db.rows(match since_s {
        Some(second) => sql(format!("{all} WHERE c.closed_at >= $1 GROUP BY s.submitter")).bind(second),
        None => sql(format!("{all} GROUP BY s.submitter")),
    })
    .await
}
