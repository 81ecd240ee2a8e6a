//! Agents: every change answers the agent after it, for those who are told.

use crate::{
    chain::{Registered, Updated},
    model::{AgentFacts, AgentId, AgentStatus, Standing},
};
use plugin_api::{Address, HostError, HostErrorCode, Outcome, Query as _, Sql, Tx, Wei, sql};

/// The columns of an [`AgentFacts`].
const FACTS: &str = "id AS agent_id, owner, name, endpoint, price_per_job, status";

pub fn insert(agent: &Registered, slug: &str, status: AgentStatus, registered_at: i64) -> Sql {
    sql("INSERT INTO agents_agents (id, owner, name, slug, endpoint, metadata_uri, price_per_job, bond, status, active, \
         registered_at, jobs_completed, jobs_failed, rating_count, rating_sum, paid_jobs, payers, earned, rating_rank) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, 0, 0, 0, 0, $12, 0)")
    .bind(agent.id)
    .bind(agent.owner)
    .bind(&agent.name)
    .bind(slug)
    .bind(&agent.endpoint)
    .bind(&agent.metadata_uri)
    .bind(agent.price_per_job)
    .bind(agent.bond)
    .bind(status)
    .bind(status == AgentStatus::Active)
    .bind(registered_at)
    .bind(Wei::ZERO.sort_key())
}

async fn change(tx: &Tx, set: &str, bind: impl FnOnce(Sql) -> Sql) -> Result<Option<AgentFacts>, HostError> {
    tx.row(bind(sql(format!("UPDATE agents_agents SET {set} WHERE id = $1 RETURNING {FACTS}")))).await
}

pub async fn update(tx: &Tx, agent: &Updated) -> Result<Option<AgentFacts>, HostError> {
    change(tx, "endpoint = $2, metadata_uri = $3, price_per_job = $4", |update| {
        update.bind(agent.id).bind(&agent.endpoint).bind(&agent.metadata_uri).bind(agent.price_per_job)
    })
    .await
}

pub async fn set_bond(tx: &Tx, id: AgentId, bond: Wei) -> Result<Option<AgentFacts>, HostError> {
    change(tx, "bond = $2", |update| update.bind(id).bind(bond)).await
}

pub async fn set_owner(tx: &Tx, id: AgentId, owner: Address) -> Result<Option<AgentFacts>, HostError> {
    change(tx, "owner = $2", |update| update.bind(id).bind(owner)).await
}

/// The status before, and the agent after.
pub async fn set_status(
    tx: &Tx,
    id: AgentId,
    status: AgentStatus,
) -> Result<Option<(AgentStatus, AgentFacts)>, HostError> {
    let before = sql("SELECT status FROM agents_agents WHERE id = $1").bind(id);
    let update = sql(format!("UPDATE agents_agents SET status = $2, active = $3 WHERE id = $1 RETURNING {FACTS}"));
    let update = update.bind(id).bind(status).bind(status == AgentStatus::Active);
    let outcomes = tx.batch(vec![before, update]).await?;
    Ok(outcome(&outcomes, 0)?.first()?.zip(outcome(&outcomes, 1)?.first()?))
}

pub async fn facts(tx: &Tx, id: AgentId) -> Result<Option<AgentFacts>, HostError> {
    tx.row(sql(format!("SELECT {FACTS} FROM agents_agents WHERE id = $1")).bind(id)).await
}

/// What its jobs amount to.
pub async fn standing(tx: &Tx, id: AgentId) -> Result<Option<Standing>, HostError> {
    let standing = "SELECT paid_jobs, payers, earned, rating_count, rating_sum FROM agents_agents WHERE id = $1";
    tx.row(sql(standing).bind(id)).await
}

/// Counts an outcome, whose rating is in `standing` already.
pub async fn record_outcome(
    tx: &Tx,
    id: AgentId,
    success: bool,
    standing: &Standing,
) -> Result<Option<AgentFacts>, HostError> {
    let counter = if success { "jobs_completed" } else { "jobs_failed" };
    let set = format!("{counter} = {counter} + 1, rating_count = $2, rating_sum = $3, rating_rank = $4");
    change(tx, &set, |update| {
        update.bind(id).bind(standing.rating_count).bind(standing.rating_sum).bind(standing.rating_rank())
    })
    .await
}

/// Stores what paid jobs changed.
pub fn set_standing(id: AgentId, standing: &Standing) -> Sql {
    sql("UPDATE agents_agents SET paid_jobs = $2, payers = $3, earned = $4, rating_rank = $5 WHERE id = $1")
        .bind(id)
        .bind(standing.paid_jobs)
        .bind(standing.payers)
        .bind(standing.earned.sort_key())
        .bind(standing.rating_rank())
}

/// What one statement of a batch answered.
pub fn outcome(outcomes: &[Outcome], place: usize) -> Result<&Outcome, HostError> {
    let missing = || HostError::new(HostErrorCode::Internal, "the gateway answered fewer outcomes than statements");
    outcomes.get(place).ok_or_else(missing)
}
