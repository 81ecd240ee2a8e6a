//! The tables of cases and their evidence.

use crate::model::{
    CaseStatus, DisputeView, EvidenceView,
    contracts::{CaseClosed, CaseOpened, EvidenceSubmitted, Voted},
};
use plugin_api::{Address, HostError, List, Query, Sql, contracts::ChainEvent, sql};

pub const TABLE: &str = "economy_disputes";
pub const EVIDENCE_TABLE: &str = "economy_evidence";

/// The rows decode as [`DisputeView`]s without evidence.
const DISPUTES: List = List::new(
    "economy_disputes d",
    "d.id, d.job_id, d.opener, d.evidence_uri, d.opened_at, d.votes, d.closed, \
     CASE d.closed WHEN 1 THEN 'closed' ELSE 'open' END AS status, d.result, d.closed_at, d.tx_opened, \
     d.updated_at_block, j.agent_id, j.client",
)
.join("LEFT JOIN economy_jobs j ON j.id = d.job_id")
.order_by("d.id DESC");

pub fn disputes(status: Option<CaseStatus>, open: Option<bool>, job_id: Option<i64>, opener: Option<Address>) -> List {
    let is_closed = [status.map(|status| status == CaseStatus::Closed), open.map(|open| !open)];
    let total = (job_id.is_none() && opener.is_none()).then(|| {
        let total = sql("SELECT cast(sum(row_count) AS BIGINT) FROM economy_disputes_counts WHERE closed >= 0");
        is_closed.iter().fold(total, |total, is_closed| total.push_filter(" AND closed = {}", *is_closed))
    });
    let [by_status, by_flag] = is_closed;
    DISPUTES
        .stored_total(total)
        .filter("d.closed = {}", by_status)
        .filter("d.closed = {}", by_flag)
        .filter("d.job_id = {}", job_id)
        .filter("d.opener = {}", opener)
}

/// Adds to each case its evidence, the oldest first.
pub async fn add_evidence(db: &impl Query, cases: &mut [DisputeView]) -> Result<(), HostError> {
    let select = "SELECT id, case_id, submitter AS \"by\", uri, submitted_at AS ts, tx_hash FROM economy_evidence \
         WHERE case_id";
    let select = sql(select).push_in(cases.iter().map(|case| case.id)).push(" ORDER BY id");
    for evidence in db.rows::<EvidenceView>(select).await? {
        if let Some(case) = cases.iter_mut().find(|case| case.id == evidence.case_id) {
            case.evidence.push(evidence);
        }
    }
    Ok(())
}

pub fn insert(event: &ChainEvent<CaseOpened>) -> Sql {
    let CaseOpened { case_id, job_id, opener, evidence_uri } = &event.args;
    sql("INSERT INTO economy_disputes \
         (id, job_id, opener, evidence_uri, opened_at, votes, closed, tx_opened, updated_at_block) \
         VALUES ($1, $2, $3, $4, $5, 0, 0, $6, $7) ON CONFLICT (id) DO NOTHING")
    .bind((case_id, job_id, opener, evidence_uri, event.time_s, event.tx, event.block))
}

pub fn insert_evidence(event: &ChainEvent<EvidenceSubmitted>) -> Sql {
    let EvidenceSubmitted { case_id, by, uri } = &event.args;
    sql("INSERT INTO economy_evidence (id, case_id, submitter, uri, submitted_at, tx_hash) \
         SELECT coalesce(max(id), 0) + 1, $1, $2, $3, $4, $5 FROM economy_evidence")
    .bind((case_id, by, uri, event.time_s, event.tx))
}

/// Notes that evidence was submitted in this block.
pub fn set_updated(event: &ChainEvent<EvidenceSubmitted>) -> Sql {
    let update = sql("UPDATE economy_disputes SET updated_at_block = $2 WHERE id = $1");
    update.bind((event.args.case_id, event.block))
}

pub fn count_vote(event: &ChainEvent<Voted>) -> Sql {
    let update = sql("UPDATE economy_disputes SET votes = votes + 1, updated_at_block = $2 WHERE id = $1");
    update.bind((event.args.case_id, event.block))
}

pub fn close(event: &ChainEvent<CaseClosed>) -> Sql {
    sql("UPDATE economy_disputes SET closed = 1, result = $2, closed_at = $3, updated_at_block = $4, tx_closed = $5 WHERE id = $1")
        .bind((event.args.case_id, event.args.client_bps, event.time_s, event.block, event.tx))
}
