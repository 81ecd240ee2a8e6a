//! Reads for an agent's record: the streams and plans of its owner, the disputes of its jobs, and its tokens.

use plugin_api::{Address, AgentId, Hash256, HostError, Query, Wei, point::CvClaim, sql};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct RecordStream {
    pub id: i64,
    pub claimed: Wei,
    pub cancelled: bool,
    pub tx_opened: Hash256,
}

/// Streams to the owner, or from him; the oldest first.
pub async fn streams(
    db: &impl Query,
    is_payee: bool,
    owner: Address,
    limit: u32,
) -> Result<Vec<RecordStream>, HostError> {
    let side = if is_payee { "payee" } else { "payer" };
    let text =
        format!("SELECT id, claimed, cancelled, tx_opened FROM economy_streams WHERE {side} = $1 ORDER BY id LIMIT $2");
    db.rows(sql(text).bind((owner, limit))).await
}

pub async fn count_streams(db: &impl Query, is_payee: bool, owner: Address) -> Result<i64, HostError> {
    let side = if is_payee { "payee" } else { "payer" };
    db.one(sql(format!("SELECT count(*) FROM economy_streams WHERE {side} = $1")).bind(owner)).await
}

#[derive(Debug, Deserialize)]
pub struct RecordPlan {
    pub id: i64,
    pub active: bool,
    pub tx_created: String,
    pub created_at: i64,
    /// Subscriptions that are paid now.
    pub subscribers: i64,
}

pub async fn plans(db: &impl Query, owner: Address, now_s: i64, limit: u32) -> Result<Vec<RecordPlan>, HostError> {
    let select = sql(
        "SELECT p.id, p.active, p.tx_created, p.created_at, (SELECT count(*) FROM economy_subs s WHERE s.plan_id = p.id \
         AND s.cancelled = 0 AND s.paid_through_s > $2) AS subscribers FROM economy_plans p WHERE p.payee = $1 ORDER BY p.id LIMIT $3",
    );
    db.rows(select.bind((owner, now_s, limit))).await
}

pub async fn count_plans(db: &impl Query, owner: Address) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM economy_plans WHERE payee = $1").bind(owner)).await
}

#[derive(Debug, Deserialize)]
pub struct RecordDispute {
    pub id: i64,
    pub job_id: i64,
    pub opener: Address,
    pub evidence_uri: String,
    pub opened_at: i64,
    pub closed: bool,
    pub result: Option<i64>,
    pub closed_at: Option<i64>,
    pub tx_opened: Hash256,
    pub tx_closed: Option<Hash256>,
}

/// Of the agent's jobs; the oldest first.
pub async fn disputes(db: &impl Query, agent: AgentId, limit: u32) -> Result<Vec<RecordDispute>, HostError> {
    // A text of the chain has no bound: it is read up to where its claim is too large anyway.
    let select = sql(format!(
        "SELECT d.id, d.job_id, d.opener, substr(d.evidence_uri, 1, {}) AS evidence_uri, d.opened_at, d.closed, d.result, d.closed_at, d.tx_opened, \
         d.tx_closed FROM economy_jobs j JOIN economy_disputes d ON d.job_id = j.id WHERE j.agent_id = $1 ORDER BY d.id LIMIT $2",
        CvClaim::BYTES_MAX,
    ));
    db.rows(select.bind((agent, limit))).await
}

/// Disputes of the agent's jobs, those that are open, and those that it lost.
pub async fn dispute_sums(db: &impl Query, agent: AgentId) -> Result<(i64, i64, i64), HostError> {
    let select = sql("SELECT count(*), cast(coalesce(sum(1 - d.closed), 0) AS BIGINT), \
         cast(coalesce(sum(CASE WHEN d.result >= 5000 THEN 1 ELSE 0 END), 0) AS BIGINT) \
         FROM economy_jobs j JOIN economy_disputes d ON d.job_id = j.id WHERE j.agent_id = $1");
    db.one(select.bind(agent)).await
}

#[derive(Debug, Deserialize)]
pub struct RecordToken {
    pub token: Address,
    pub launched_at: i64,
    pub buys: i64,
    pub sells: i64,
    pub fmx_in: Wei,
    pub fmx_out: Wei,
    pub tx_launched: Hash256,
}

pub async fn tokens(db: &impl Query, agent: AgentId, limit: u32) -> Result<Vec<RecordToken>, HostError> {
    let select = sql(
        "SELECT token, launched_at, buys, sells, fmx_in, fmx_out, tx_launched FROM economy_tokens WHERE agent_id = $1 \
         ORDER BY nth LIMIT $2",
    );
    db.rows(select.bind((agent, limit))).await
}

pub async fn count_tokens(db: &impl Query, agent: AgentId) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM economy_tokens WHERE agent_id = $1").bind(agent)).await
}
