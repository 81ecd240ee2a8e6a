//! The state of bounties: their rows, combined with the chain's rows of the jobs that pay them.
//!
//! The rule: the state is not stored. Each query computes which job pays a bounty, and so its status, from the poster's award,
//! the jobs that cite the bounty (`bounties_jobs`, of the poster only) and the status of these jobs (`jobs_v1`):
//!
//! - An award holds until its job is refunded. An award without a job, or whose job is for another client or agent, holds until
//!   a citing job is refunded after it.
//! - The job is the one that the award names, if its client is the poster; else the oldest citing one that is not refunded.
//! - `completed`: the job is completed. `awarded`: there is a job, or an award that holds. `open`: neither.

use crate::model::{AgentId, BountyId, JobId, Sort, Status};
use plugin_api::{Address, HostError, Query, Search, Sql, StatementResult, Wei, sql};
use serde::Deserialize;

/// Selects bounties.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub status: Option<Status>,
    /// Searched in title and brief.
    pub search: Option<Search>,
    /// Normalised as in storage: trimmed, lower case.
    pub tag: Option<String>,
    pub poster: Option<Address>,
    /// Only the bounty with this id.
    pub only: Option<BountyId>,
    /// Open to claims at this second: without a deadline, or with a later one.
    pub due_after_s: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub sort: Sort,
    pub limit: u32,
    pub offset: u32,
}

/// Parameters of the queries for this gateway.
#[derive(Clone, Copy, Debug)]
pub struct StateParams<'a> {
    /// `sqlite` or `postgres`.
    pub dialect: &'a str,
    /// The operator's own agents.
    pub house: &'a [i64],
}

/// A bounty with its state.
#[derive(Clone, Debug, Deserialize)]
pub struct BountyRow<'r> {
    pub id: BountyId,
    pub kept: &'r str,
    pub title: &'r str,
    /// Stored with 78 digits.
    pub reward: Wei,
    pub poster: Address,
    pub status: Status,
    pub agent: Option<AgentId>,
    #[serde(borrow)]
    pub agent_name: Option<&'r str>,
    pub job: Option<JobId>,
    #[serde(borrow)]
    pub job_status: Option<&'r str>,
    pub claims: i64,
    pub house_claims: i64,
    pub deadline: Option<i64>,
    pub active_at: i64,
    pub awarded_at: Option<i64>,
    pub completed_at: Option<i64>,
    /// The poster's own award, while it holds.
    pub own_agent: Option<AgentId>,
    pub own_job: Option<JobId>,
    pub own_at: Option<i64>,
}

/// An open bounty, for the list of work.
#[derive(Clone, Debug, Deserialize)]
pub struct OpenRow {
    pub id: BountyId,
    pub title: String,
    pub summary: String,
    #[serde(deserialize_with = "plugin_api::json_text")]
    pub tags: Vec<String>,
    pub reward: Wei,
    pub poster: Address,
    pub created_at: i64,
    pub deadline: Option<i64>,
    pub claims: u64,
}

const DETAIL: &str = "s.id, s.kept, s.title, s.reward, s.poster, s.status, s.agent, \
    (SELECT a.name FROM agents_v1 a WHERE a.agent_id = s.agent) AS agent_name, s.job, s.job_status, s.deadline, \
    s.active_at, s.awarded_at, s.completed_at, s.own_agent, s.own_job, s.own_at";
const OPEN: &str = "s.id, s.title, s.summary, s.tags, s.reward, s.poster, s.created_at, s.deadline";

/// Rows whose texts are borrowed from this result.
pub struct Bounties(StatementResult);

impl Bounties {
    pub fn rows(&self) -> Result<Vec<BountyRow<'_>>, HostError> {
        self.0.all()
    }

    pub fn first(&self) -> Result<Option<BountyRow<'_>>, HostError> {
        self.0.first()
    }
}

/// A page, and the total number of matches.
pub async fn list(
    db: &impl Query,
    state_params: StateParams<'_>,
    filter: &Filter,
    window: PageRequest,
) -> Result<(Bounties, i64), HostError> {
    let page = db.run(page(DETAIL, state_params, filter, window)).await?;
    Ok((Bounties(page), count(db, state_params, filter).await?))
}

/// The newest bounties that can be claimed.
pub async fn open(
    db: &impl Query,
    state_params: StateParams<'_>,
    now_s: i64,
    limit: u32,
) -> Result<Vec<OpenRow>, HostError> {
    let filter = Filter { status: Some(Status::Open), due_after_s: Some(now_s), ..Filter::default() };
    db.rows(page(OPEN, state_params, &filter, PageRequest { sort: Sort::New, limit, offset: 0 })).await
}

/// The bounty, if it can be claimed.
pub async fn open_one(
    db: &impl Query,
    state_params: StateParams<'_>,
    bounty: BountyId,
    now_s: i64,
) -> Result<Option<OpenRow>, HostError> {
    let filter =
        Filter { status: Some(Status::Open), due_after_s: Some(now_s), only: Some(bounty), ..Filter::default() };
    db.row(page(OPEN, state_params, &filter, PageRequest { sort: Sort::New, limit: 1, offset: 0 })).await
}

pub async fn find(db: &impl Query, state_params: StateParams<'_>, bounty: BountyId) -> Result<Bounties, HostError> {
    let filter = Filter { only: Some(bounty), ..Filter::default() };
    db.run(page(DETAIL, state_params, &filter, PageRequest { sort: Sort::New, limit: 1, offset: 0 }))
        .await
        .map(Bounties)
}

pub async fn count(db: &impl Query, state_params: StateParams<'_>, filter: &Filter) -> Result<i64, HostError> {
    let Some(status) = filter.status else {
        return db.one(conditions(sql("SELECT count(*) FROM bounties_bounties b"), filter)).await;
    };
    let counted = with_state("count(*)", state_params.dialect, |inputs| conditions(inputs, filter));
    db.one(counted.push_bind(" WHERE s.status = {}", status.as_str())).await
}

fn page(
    columns: &str,
    state_params: StateParams<'_>,
    filter: &Filter,
    PageRequest { sort, limit, offset }: PageRequest,
) -> Sql {
    let columns = format!("{columns}, {}", claim_counts(state_params.house));
    let order = format!(" ORDER BY {}", sort.order_by());
    let cut = |statement: Sql| statement.push_bind(" LIMIT {}", limit).push_bind(" OFFSET {}", offset);
    if filter.status.is_none() && sort.is_stored() {
        // Computes the state of the page's rows only.
        let inputs = |inputs: Sql| cut(conditions(inputs, filter).push(&order));
        return with_state(&columns, state_params.dialect, inputs).push(&order);
    }
    let mut statement = with_state(&columns, state_params.dialect, |inputs| conditions(inputs, filter));
    if let Some(status) = filter.status {
        statement = statement.push_bind(" WHERE s.status = {}", status.as_str());
    }
    cut(statement.push(&order))
}

fn claim_counts(house: &[i64]) -> String {
    let ids: Vec<String> = house.iter().chain([&0]).map(i64::to_string).collect();
    let ids = ids.join(", ");
    let count = |condition: &str, name: &str| {
        format!(
            "(SELECT count(*) FROM bounties_claims c WHERE c.bounty_id = s.id AND c.agent_id {condition} ({ids})) AS {name}"
        )
    };
    format!("{}, {}", count("NOT IN", "claims"), count("IN", "house_claims"))
}

/// `WHERE …` on `bounties_bounties b`, without the status.
fn conditions(mut statement: Sql, filter: &Filter) -> Sql {
    let mut word = " WHERE ";
    let mut add = |statement: Sql, text: &str| {
        let text = format!("{word}{text}");
        word = " AND ";
        statement.push(&text)
    };
    if let Some(bounty) = filter.only {
        let text = format!("b.id = ${}", statement.param_count() + 1);
        statement = add(statement, &text).bind(bounty);
    }
    if let Some(search) = &filter.search {
        let place = format!("${}", statement.param_count() + 1);
        let text = format!("({} OR {})", search.condition("b.title", &place), search.condition("b.brief", &place));
        statement = add(statement, &text).bind(search.needle());
    }
    if let Some(tag) = &filter.tag {
        let text =
            format!("b.id IN (SELECT bounty_id FROM bounties_tags WHERE tag = ${})", statement.param_count() + 1);
        statement = add(statement, &text).bind(tag.as_str());
    }
    if let Some(poster) = filter.poster {
        let text = format!("b.poster = ${}", statement.param_count() + 1);
        statement = add(statement, &text).bind(poster);
    }
    if let Some(second) = filter.due_after_s {
        let text = format!("b.deadline_order > ${}", statement.param_count() + 1);
        statement = add(statement, &text).bind(second);
    }
    statement
}

/// Selects `columns` of bounties with their state, alias `s`. `narrow` adds condition, order and limit to the inputs.
fn with_state(columns: &str, dialect: &str, narrow: impl FnOnce(Sql) -> Sql) -> Sql {
    let greatest = if dialect == "postgres" { "greatest" } else { "max" };
    let begin =
        format!("SELECT {columns} FROM ({} FROM ({JOBS} FROM ({LINKED} FROM ({HELD} FROM ({INPUTS}", state(greatest));
    narrow(sql(begin)).push(") i) h) l) j) s")
}

/// The stored columns, and the chain's columns of the jobs. `own` is the job that the poster's award names.
const INPUTS: &str = "SELECT b.id, b.kept, b.title, b.summary, b.tags, b.poster, b.reward, b.deadline, b.deadline_order, \
    b.created_at, b.updated_at, b.awarded_agent, b.awarded_job, b.awarded_at, \
    CASE WHEN b.awarded_job IS NULL THEN 'None' ELSE coalesce((SELECT CASE WHEN v.client = b.poster \
        AND v.agent_id = b.awarded_agent THEN v.status ELSE 'Strange' END FROM jobs_v1 v WHERE v.job_id = b.awarded_job), \
        'Unknown') END AS own_status, \
    coalesce((SELECT v.closed_at FROM jobs_v1 v WHERE v.job_id = b.awarded_job AND v.client = b.poster), 0) AS own_closed, \
    (SELECT min(c.job_id) FROM bounties_jobs c JOIN jobs_v1 v ON v.job_id = c.job_id \
        WHERE c.bounty_id = b.id AND v.client = b.poster AND v.status <> 'Refunded') AS cited_job, \
    coalesce((SELECT max(v.closed_at) FROM bounties_jobs c JOIN jobs_v1 v ON v.job_id = c.job_id \
        WHERE c.bounty_id = b.id AND v.client = b.poster AND v.status = 'Refunded'), -1) AS refunded_at \
    FROM bounties_bounties b";

/// Computes whether the poster's award holds.
const HELD: &str = "SELECT i.*, CASE WHEN i.awarded_agent IS NULL OR i.own_status = 'Refunded' \
    OR (i.own_status IN ('None', 'Strange') AND i.refunded_at >= i.awarded_at) THEN 0 ELSE 1 END AS holds";

/// Computes which job pays the bounty.
const LINKED: &str = "SELECT h.*, CASE WHEN h.holds = 1 AND h.own_status NOT IN ('None', 'Strange') THEN h.awarded_job \
    ELSE h.cited_job END AS job";

const JOBS: &str = "SELECT l.*, \
    (SELECT v.status FROM jobs_v1 v WHERE v.job_id = l.job) AS job_status, \
    (SELECT v.agent_id FROM jobs_v1 v WHERE v.job_id = l.job) AS job_agent, \
    (SELECT v.created_at FROM jobs_v1 v WHERE v.job_id = l.job) AS job_created, \
    (SELECT v.closed_at FROM jobs_v1 v WHERE v.job_id = l.job) AS job_closed";

fn state(greatest: &str) -> String {
    format!(
        "SELECT j.id, j.kept, j.title, j.summary, j.tags, j.poster, j.reward, j.deadline, j.deadline_order, j.created_at, \
         CASE WHEN j.job_status = 'Completed' THEN 'completed' WHEN j.holds = 1 OR j.job IS NOT NULL THEN 'awarded' \
             ELSE 'open' END AS status, \
         CASE WHEN j.job IS NOT NULL AND (j.holds = 0 OR j.own_status IN ('None', 'Strange')) THEN j.job_agent \
             WHEN j.holds = 1 THEN j.awarded_agent END AS agent, \
         j.job, j.job_status, \
         CASE WHEN j.holds = 1 THEN j.awarded_at ELSE j.job_created END AS awarded_at, \
         CASE WHEN j.job_status = 'Completed' THEN j.job_closed END AS completed_at, \
         {greatest}(j.updated_at, coalesce(j.job_created, 0), coalesce(j.job_closed, 0), j.own_closed, j.refunded_at) \
             AS active_at, \
         CASE WHEN j.holds = 1 THEN j.awarded_agent END AS own_agent, \
         CASE WHEN j.holds = 1 THEN j.awarded_job END AS own_job, \
         CASE WHEN j.holds = 1 THEN j.awarded_at END AS own_at"
    )
}
