//! Endorsements, derived from events of their contract.

use crate::model::{Endorsed, EndorsementRevoked};
use plugin_api::{Address, AgentId, Hash256, HostError, Query, Sql, Wei, contracts::ChainEvent, point::CvClaim, sql};
use serde::Deserialize;

pub const TABLE: &str = "aicv_endorsements";

/// One that stands.
#[derive(Clone, Debug, Deserialize)]
pub struct Endorsement {
    pub id: i64,
    pub from_agent_id: i64,
    pub capability: String,
    pub basis: i64,
    pub weight: i64,
    pub evidence_job_id: i64,
    pub evidence_amount: Wei,
    pub uri: String,
    pub tx: Hash256,
    pub endorsed_at: i64,
    /// The owner of the agent that endorses, at that time: a later one has endorsed nobody.
    pub endorser: Option<Address>,
}

/// Numbers for the summary.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Totals {
    pub total: i64,
    pub live: i64,
    pub paid: i64,
}

/// `endorser` owns the agent that endorses.
pub fn insert(event: &ChainEvent<Endorsed>, endorser: Option<Address>) -> Sql {
    let given = &event.args;
    sql("INSERT INTO aicv_endorsements (id, from_agent_id, to_agent_id, capability, basis, weight, evidence_job_id, evidence_amount, uri, \
         tx, endorsed_at, endorser, revoked) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0) ON CONFLICT (id) DO NOTHING")
    .bind((given.id, given.from_agent_id, given.to_agent_id, &given.capability, given.basis, given.weight))
    .bind((given.evidence_job_id, given.evidence_amount_wei, &given.uri, event.tx, event.time_s, endorser))
}

pub fn revoke(event: &ChainEvent<EndorsementRevoked>) -> Sql {
    sql("UPDATE aicv_endorsements SET revoked = 1 WHERE id = $1").bind(event.args.id)
}

fn bounded(column: &str) -> String {
    format!("substr({column}, 1, {})", CvClaim::BYTES_MAX)
}

/// The newest that stand.
pub async fn live(db: &impl Query, agent: AgentId, limit: i64) -> Result<Vec<Endorsement>, HostError> {
    // Texts of the chain have no bound: they are read up to where the claim is too large anyway.
    let (capability, uri) = (bounded("capability"), bounded("uri"));
    let select = sql(format!(
        "SELECT id, from_agent_id, {capability} AS capability, basis, weight, evidence_job_id, evidence_amount, {uri} AS uri, tx, \
         endorsed_at, endorser FROM aicv_endorsements WHERE to_agent_id = $1 AND revoked = 0 ORDER BY id DESC LIMIT $2",
    ));
    db.rows(select.bind((agent, limit))).await
}

pub async fn totals(db: &impl Query, agent: AgentId) -> Result<Totals, HostError> {
    let select = sql("SELECT count(*) AS total, cast(coalesce(sum(1 - revoked), 0) AS BIGINT) AS live, \
         cast(coalesce(sum(CASE WHEN revoked = 0 AND basis = 1 THEN 1 ELSE 0 END), 0) AS BIGINT) AS paid \
         FROM aicv_endorsements WHERE to_agent_id = $1");
    db.one(select.bind(agent)).await
}

/// Those that stand, of all agents.
pub async fn count_live(db: &impl Query) -> Result<i64, HostError> {
    let count = sql("SELECT row_count FROM aicv_endorsements_counts WHERE revoked = 0");
    Ok(db.row(count).await?.unwrap_or_default())
}
