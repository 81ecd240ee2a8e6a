//! The tables of cases and their evidence.

use super::{Conditions, List, PageRequest};
use crate::model::{CaseStatus, EvidenceView};
use plugin_api::{Address, Hash256, HostError, Query, Tx, sql};
use serde::Deserialize;

pub const TABLE: &str = "economy_disputes";
pub const EVIDENCE_TABLE: &str = "economy_evidence";

/// A case with columns of its job.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CaseRow {
    pub id: i64,
    pub job_id: i64,
    pub opener: Address,
    pub evidence_uri: String,
    pub opened_at: i64,
    pub votes: i64,
    pub closed: bool,
    pub result: Option<i64>,
    pub closed_at: Option<i64>,
    pub tx_opened: Hash256,
    pub updated_at_block: i64,
    pub agent_id: Option<i64>,
    pub client: Option<Address>,
}

/// A new case.
pub struct NewCase<'a> {
    pub id: i64,
    pub job_id: i64,
    pub opener: Address,
    pub evidence_uri: &'a str,
    pub opened_at: i64,
    pub tx_opened: Hash256,
    pub block: i64,
}

pub fn insert(tx: &Tx, new: NewCase<'_>) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_disputes \
         (id, job_id, opener, evidence_uri, opened_at, votes, closed, tx_opened, updated_at_block) \
         VALUES ($1, $2, $3, $4, $5, 0, 0, $6, $7) ON CONFLICT (id) DO NOTHING")
    .bind(new.id)
    .bind(new.job_id)
    .bind(new.opener)
    .bind(new.evidence_uri)
    .bind(new.opened_at)
    .bind(new.tx_opened)
    .bind(new.block);
    tx.defer(insert)
}

pub struct NewEvidence<'a> {
    pub case_id: i64,
    pub by: Address,
    pub uri: &'a str,
    pub ts: i64,
    pub tx: Hash256,
    pub block: i64,
}

pub fn add_evidence(tx: &Tx, new: NewEvidence<'_>) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_evidence (id, case_id, submitter, uri, submitted_at, tx_hash) \
         SELECT coalesce(max(id), 0) + 1, $1, $2, $3, $4, $5 FROM economy_evidence")
    .bind(new.case_id)
    .bind(new.by)
    .bind(new.uri)
    .bind(new.ts)
    .bind(new.tx);
    let touch =
        sql("UPDATE economy_disputes SET updated_at_block = $2 WHERE id = $1").bind(new.case_id).bind(new.block);
    tx.defer(insert)?;
    tx.defer(touch)
}

pub fn count_vote(tx: &Tx, id: i64, block: i64) -> Result<(), HostError> {
    let update = sql("UPDATE economy_disputes SET votes = votes + 1, updated_at_block = $2 WHERE id = $1");
    tx.defer(update.bind(id).bind(block))
}

pub fn close(tx: &Tx, id: i64, client_bps: u16, now_s: i64, block: i64) -> Result<(), HostError> {
    let update = sql("UPDATE economy_disputes SET closed = 1, result = $2, closed_at = $3, updated_at_block = $4 \
         WHERE id = $1");
    tx.defer(update.bind(id).bind(client_bps).bind(now_s).bind(block))
}

/// Selects cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    pub status: Option<CaseStatus>,
    pub open: Option<bool>,
    pub job_id: Option<i64>,
    pub opener: Option<Address>,
}

const LIST: List = List {
    columns: "d.id, d.job_id, d.opener, d.evidence_uri, d.opened_at, d.votes, d.closed, d.result, d.closed_at, \
         d.tx_opened, d.updated_at_block, j.agent_id, j.client",
    from: "economy_disputes d LEFT JOIN economy_jobs j ON j.id = d.job_id",
    table: "economy_disputes d",
    order: "d.id DESC",
};

pub async fn list(db: &impl Query, filter: Filter, window: PageRequest) -> Result<(Vec<CaseRow>, i64), HostError> {
    let conditions = Conditions::default()
        .and_if("d.closed = {}", filter.status.map(|status| status == CaseStatus::Closed))
        .and_if("d.closed = {}", filter.open.map(|open| !open))
        .and_if("d.job_id = {}", filter.job_id)
        .and_if("d.opener = {}", filter.opener);
    LIST.read(db, &conditions, window).await
}

/// The evidence of these cases, oldest first.
pub async fn evidence_of(db: &impl Query, cases: impl Iterator<Item = i64>) -> Result<Vec<EvidenceView>, HostError> {
    let mut select = sql("SELECT id, case_id AS \"caseId\", submitter AS \"by\", uri, submitted_at AS ts, \
         tx_hash AS \"txHash\" FROM economy_evidence WHERE case_id IN (");
    let mut join = "{}";
    for case in cases {
        select = select.push_bind(join, case);
        join = ", {}";
    }
    if select.param_count() == 0 {
        return Ok(Vec::new());
    }
    db.rows(select.push(") ORDER BY id")).await
}

pub async fn count_open(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM economy_disputes WHERE closed = 0")).await
}
