//! The state of bounties: their rows, combined with the chain's rows of the jobs that pay them.
//!
//! The rule: the state is not stored. Each query computes which job pays a bounty, and so its status, from the poster's award,
//! the jobs that cite the bounty (`bounties_jobs`, of the poster only) and the status of these jobs (`jobs_v1`):
//!
//! - An award holds until its job is refunded. An award without a job, or whose job is for another client or agent, holds until
//!   a citing job is refunded after it.
//! - The job is the one that the award names, if its client is the poster; else the oldest citing one that is not refunded. An
//!   award that holds and names no job of the poster gives way to a citing job only when that is newer, or completed.
//! - `completed`: the job is completed. `awarded`: there is a job, or an award that holds. `open`: neither.
//!
//! A query computes the state of the rows that it returns, and of the few bounties that are [`TAKEN`]: all others are open, or
//! settled and so completed.

use super::selection::{Selection, Sort};
use crate::model::{BountyId, Completed, Status};
use plugin_api::{
    Address, AgentId, HostError, JobId, Query, Sql, Wei,
    handles::{PageStart, StatementResult},
    sql,
};
use serde::Deserialize;

/// What events and checks need of a bounty with its state. Responses are made of a [`crate::model::BountyState`].
#[derive(Debug, Deserialize)]
pub struct BountyRow<'r> {
    pub id: BountyId,
    pub title: &'r str,
    /// Stored with 78 digits.
    pub reward: Wei,
    pub poster: Address,
    pub status: Status,
    pub awarded_agent_id: Option<AgentId>,
    #[serde(borrow)]
    pub awarded_agent_name: Option<&'r str>,
    pub job_id: Option<JobId>,
    pub deadline: Option<i64>,
    pub awarded_at: Option<i64>,
    /// The poster's own award, while it holds.
    pub own_agent: Option<AgentId>,
    pub own_job: Option<JobId>,
    pub own_at: Option<i64>,
}

impl BountyRow<'_> {
    /// The event, if the job completes the bounty.
    pub fn completed_by(&self, job: JobId) -> Option<Completed<'_>> {
        let agent_id = self.awarded_agent_id.filter(|_| self.job_id == Some(job))?;
        let (bounty_id, title, agent_name) = (self.id, self.title, self.awarded_agent_name);
        Some(Completed { bounty_id, title, agent_id, agent_name, job_id: job, reward_wei: self.reward })
    }
}

/// A bounty that can be settled, and its last activity.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct SettledBounty {
    pub id: BountyId,
    pub active_at: i64,
}

/// An open bounty, for the list of work.
#[derive(Debug, Deserialize)]
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
    pub claim_count: u64,
}

/// Reads bounties with their state. Its texts depend on the database and on the operator's agents, so no [`plugin_api::List`],
/// whose text is constant, can hold them; and filters and order apply before the state is computed where they can.
pub struct StateQuery {
    /// For rows that decode as [`crate::model::BountyState`]s and [`BountyRow`]s.
    all_columns: String,
    /// For [`OpenRow`]s.
    open_columns: String,
    /// The beginning of a source of bounties with their state, which filters of the stored columns follow.
    source: String,
}

impl StateQuery {
    /// `dialect` is `sqlite` or `postgres`.
    pub fn new(dialect: &str, house_agents: &[i64]) -> Self {
        // No agent has the id 0: a list in SQL must not be empty.
        let house: Vec<String> = house_agents.iter().chain([&0]).map(i64::to_string).collect();
        let count = |condition: &str| {
            format!(
                "(SELECT count(*) FROM bounties_claims c WHERE c.bounty_id = s.id AND c.agent_id {condition} ({}))",
                house.join(", ")
            )
        };
        let claim_counts = format!("{} AS claim_count, {} AS house_claim_count", count("NOT IN"), count("IN"));
        Self {
            all_columns: format!(
                "s.kept, s.id, s.status, s.poster, s.poster AS author, s.agent AS awarded_agent_id, \
                 (SELECT a.name FROM agents_v1 a WHERE a.agent_id = s.agent) AS awarded_agent_name, s.job AS job_id, \
                 s.job_status, {claim_counts}, s.active_at AS updated_at, s.awarded_at, s.completed_at, \
                 s.title, s.reward, s.deadline, s.own_agent, s.own_job, s.own_at"
            ),
            open_columns: format!(
                "s.id, s.title, s.summary, s.tags, s.reward, s.poster, s.created_at, s.deadline, {claim_counts}"
            ),
            source: format!(
                "({} FROM ({JOBS} FROM ({LINKED} FROM ({HELD} FROM ({INPUTS}",
                state(if dialect == "postgres" { "greatest" } else { "max" })
            ),
        }
    }

    /// A page, and the total number of matches.
    pub async fn list(
        &self,
        db: &impl Query,
        selection: &Selection,
        limit: u32,
        start: PageStart,
    ) -> Result<(StatementResult, i64), HostError> {
        let start = start.in_order("bounties", selection.sort.order_by());
        let mut columns = self.all_columns.clone();
        start.push_columns(&mut columns);
        let page = match selection.sort {
            Sort::Active => self.active_page(&columns, selection, limit, &start),
            Sort::New | Sort::Reward | Sort::Deadline => self.page(&columns, selection, limit, &start),
        };
        let page = start.read(db, page, limit, 0).await?;
        Ok((page, self.count(db, selection).await?))
    }

    pub async fn find(&self, db: &impl Query, bounty: BountyId) -> Result<StatementResult, HostError> {
        let selection = Selection { only: Some(bounty), ..Selection::default() };
        db.run(self.first(&self.all_columns, &selection, 1)).await
    }

    /// The newest bounties that can be claimed; of `only` one bounty, if it is named.
    pub async fn open(
        &self,
        db: &impl Query,
        only: Option<BountyId>,
        now_s: i64,
        limit: u32,
    ) -> Result<Vec<OpenRow>, HostError> {
        let (status, due_after_s) = (Some(Status::Open), Some(now_s));
        let selection = Selection { status, due_after_s, only, ..Selection::default() };
        db.rows(self.first(&self.open_columns, &selection, limit)).await
    }

    pub async fn count(&self, db: &impl Query, selection: &Selection) -> Result<i64, HostError> {
        let is_unfiltered = selection.is_unfiltered();
        db.one(match (selection.status, &selection.tag) {
            (None, None) if is_unfiltered => sql(ALL),
            (None, Some(tag)) if is_unfiltered => {
                sql("SELECT coalesce((SELECT row_count FROM bounties_tags_counts WHERE tag = $1), 0)").bind(tag)
            }
            (Some(Status::Open), None) if is_unfiltered => {
                sql(format!("SELECT ({UNSETTLED}) - (")).push_sql(self.taken("count(*)", "<>", Status::Open)).push(")")
            }
            (Some(Status::Awarded), None) if is_unfiltered => self.taken("count(*)", "=", Status::Awarded),
            (Some(Status::Completed), None) if is_unfiltered => sql(format!("SELECT ({SETTLED}) + ("))
                .push_sql(self.taken("count(*)", "=", Status::Completed))
                .push(")"),
            _ => self.filtered(sql("SELECT count(*) FROM bounties_bounties b"), selection, " WHERE ").0,
        })
        .await
    }

    /// Bounties that are not settled, and that a job completed before that second; no job that concerns them is open since.
    pub async fn completed_before(
        &self,
        db: &impl Query,
        before_s: i64,
        limit: u32,
    ) -> Result<Vec<SettledBounty>, HostError> {
        let taken = self.select("s.id, s.active_at").push(" WHERE b.is_settled = 0 AND b.is_taken = 1");
        let at_rest = taken.push_bind(
            " AND NOT EXISTS (SELECT 1 FROM jobs_v1 v WHERE (v.closed_at IS NULL OR v.closed_at >= {}) AND (v.job_id = b.awarded_job \
                OR v.job_id IN (SELECT c.job_id FROM bounties_jobs c WHERE c.bounty_id = b.id)))",
            before_s,
        );
        let completed = at_rest
            .push(END)
            .push_bind(" WHERE s.status = 'completed' AND s.is_stable = 1 AND s.completed_at < {}", before_s);
        db.rows(completed.push_bind(" LIMIT {}", limit)).await
    }

    fn first(&self, columns: &str, selection: &Selection, limit: u32) -> Sql {
        self.page(columns, selection, limit, &PageStart::from(0))
    }

    /// In an order of stored columns: computes the state of the page's rows only.
    fn page(&self, columns: &str, selection: &Selection, limit: u32, start: &PageStart) -> Sql {
        let order = format!(" ORDER BY {}", selection.sort.order_by());
        let (inputs, word) = self.filtered(self.select(columns), selection, " WHERE ");
        let inputs = start.push_after(inputs, word).push(&order).push_bind(" LIMIT {}", limit);
        let rows = start.push_offset(inputs).push(END);
        // Of one bounty, the state decides after it was computed.
        let status = selection.status.filter(|_| selection.only.is_some());
        rows.push_filter(" WHERE s.status = {}", status).push(&order)
    }

    /// In the order of the last activity: computes the state of as many rows as the page needs in the stored order, and of all that
    /// are [`TAKEN`], whose activity is not stored.
    fn active_page(&self, columns: &str, selection: &Selection, limit: u32, start: &PageStart) -> Sql {
        const STORED: &str = "active_order DESC, id DESC";
        let order = format!(" ORDER BY {}", selection.sort.order_by());
        let ids = "SELECT b.id FROM bounties_bounties b WHERE b.id";
        let rows_max = start.clone().offset().unwrap_or_default().saturating_add(limit);
        let (stored, word) = self.filtered(sql(format!("{ids} NOT IN ({TAKEN})")), selection, " AND ");
        let stored = start.clone().in_order("bounties", STORED).push_after(stored, word);
        let stored = stored.push(&format!(" ORDER BY {STORED}")).push_bind(" LIMIT {}", rows_max);
        let (taken, _) = self.filtered(sql(format!("{ids} IN ({TAKEN})")), selection, " AND ");
        let inputs = self.select(columns).push(" WHERE b.id IN (SELECT o.id FROM (").push_sql(stored);
        let inputs = inputs.push(") o UNION ALL ").push_sql(taken).push(")");
        let page = start.push_after(inputs.push(END), " WHERE ").push(&order).push_bind(" LIMIT {}", limit);
        start.push_offset(page)
    }

    /// Appends the conditions of the selection, the first one after `word`; returns the word for the next one. Of one bounty it leaves
    /// the status out.
    fn filtered(&self, statement: Sql, selection: &Selection, word: &'static str) -> (Sql, &'static str) {
        let status = selection.status.filter(|_| selection.only.is_none()).map(|status| match status {
            Status::Open => {
                sql("b.is_settled = 0 AND b.id NOT IN (").push_sql(self.taken("s.id", "<>", Status::Open)).push(")")
            }
            Status::Awarded => sql("b.id IN (").push_sql(self.taken("s.id", "=", Status::Awarded)).push(")"),
            Status::Completed => {
                sql("(b.is_settled = 1 OR b.id IN (").push_sql(self.taken("s.id", "=", Status::Completed)).push("))")
            }
        });
        selection
            .conditions()
            .into_iter()
            .chain(status)
            .fold((statement, word), |(statement, word), condition| (statement.push(word).push_sql(condition), " AND "))
    }

    /// Selects from the taken bounties that are not settled, by their status.
    fn taken(&self, columns: &str, comparison: &str, status: Status) -> Sql {
        let taken = self.select(columns).push(&format!(" WHERE b.is_settled = 0 AND b.id IN ({TAKEN})")).push(END);
        taken.push_bind(&format!(" WHERE s.status {comparison} {{}}"), status)
    }

    /// Selects columns of bounties with their state, alias `s`. Conditions, order and limit of the inputs and [`END`] follow.
    fn select(&self, columns: &str) -> Sql {
        sql(format!("SELECT {columns} FROM {}", self.source))
    }
}

/// Selects the number of all bounties.
const ALL: &str = "SELECT cast(coalesce(sum(row_count), 0) AS BIGINT) FROM bounties_bounties_counts";
/// Selects the number of settled ones.
const SETTLED: &str = "SELECT coalesce((SELECT row_count FROM bounties_bounties_counts WHERE is_settled = 1), 0)";
/// Selects the number of the others.
const UNSETTLED: &str = "SELECT coalesce((SELECT row_count FROM bounties_bounties_counts WHERE is_settled = 0), 0)";

/// Selects the ids of bounties that may be awarded or completed without being settled, or that were active after `active_order`:
/// those that somebody awarded, and those that a job cites. Of settled ones, those that a later job cites.
const TAKEN: &str = "SELECT t.id FROM bounties_bounties t WHERE t.is_settled = 0 AND t.is_taken = 1 \
    UNION SELECT t.bounty_id FROM bounties_jobs t WHERE t.bounty_id IS NOT NULL \
    AND t.job_id > (SELECT p.cited_up_to FROM bounties_progress p WHERE p.id = 1)";

/// Ends the source that [`StateQuery::select`] begins.
const END: &str = ") i) h) l) j) s";

/// The stored columns, and the chain's columns of the jobs. `own` is the job that the poster's award names.
const INPUTS: &str = "SELECT b.id, b.kept, b.title, b.summary, b.tags, b.poster, b.reward, b.deadline, b.deadline_order, \
    b.created_at, b.updated_at, b.awarded_agent, b.awarded_job, b.awarded_at, \
    CASE WHEN b.awarded_job IS NULL THEN 'None' ELSE coalesce((SELECT CASE WHEN v.client = b.poster \
        AND v.agent_id = b.awarded_agent THEN v.status ELSE 'Strange' END FROM jobs_v1 v WHERE v.job_id = b.awarded_job), \
        'Unknown') END AS own_status, \
    coalesce((SELECT v.closed_at FROM jobs_v1 v WHERE v.job_id = b.awarded_job AND v.client = b.poster), 0) AS own_closed, \
    (SELECT min(c.job_id) FROM bounties_jobs c JOIN jobs_v1 v ON v.job_id = c.job_id \
        WHERE c.bounty_id = b.id AND v.client = b.poster AND v.status <> 'Refunded') AS cited_job, \
    (SELECT min(c.job_id) FROM bounties_jobs c JOIN jobs_v1 v ON v.job_id = c.job_id \
        WHERE c.bounty_id = b.id AND v.client = b.poster AND v.status <> 'Refunded' \
            AND (c.job_id > coalesce(b.awarded_after_job, 0) OR v.status = 'Completed')) AS later_job, \
    coalesce((SELECT max(v.closed_at) FROM bounties_jobs c JOIN jobs_v1 v ON v.job_id = c.job_id \
        WHERE c.bounty_id = b.id AND v.client = b.poster AND v.status = 'Refunded'), -1) AS refunded_at \
    FROM bounties_bounties b";

/// Computes whether the poster's award holds.
const HELD: &str = "SELECT i.*, CASE WHEN i.awarded_agent IS NULL OR i.own_status = 'Refunded' \
    OR (i.own_status IN ('None', 'Strange') AND i.refunded_at >= i.awarded_at) THEN 0 ELSE 1 END AS holds";

/// Computes which job pays the bounty.
const LINKED: &str = "SELECT h.*, CASE WHEN h.holds = 0 THEN h.cited_job \
    WHEN h.own_status IN ('None', 'Strange') THEN h.later_job ELSE h.awarded_job END AS job";

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
         CASE WHEN j.job = j.cited_job OR (j.job = j.awarded_job AND j.own_status = 'Completed') THEN 1 ELSE 0 END \
             AS is_stable, \
         CASE WHEN j.holds = 1 THEN j.awarded_agent END AS own_agent, \
         CASE WHEN j.holds = 1 THEN j.awarded_job END AS own_job, \
         CASE WHEN j.holds = 1 THEN j.awarded_at END AS own_at"
    )
}
