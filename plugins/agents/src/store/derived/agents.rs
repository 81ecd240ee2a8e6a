//! Agents: every change returns the agent after it, for the event that is published.

use crate::model;
use plugin_api::{Address, AgentId, HostError, Query as _, Sql, Tx, Wei, contracts::registry::AgentUpdated, sql};

/// The columns of an [`model::AgentRecord`].
const RECORD: &str = "id, owner, name, endpoint, metadata_uri, price_per_job, bond, status, registered_at, jobs_completed, \
     jobs_failed, rating_count, rating_sum";

/// Inserts a new agent without jobs.
pub fn insert(agent: &model::AgentRecord) -> Result<Sql, HostError> {
    let insert =
        sql("INSERT INTO agents_agents (id, owner, name, slug, endpoint, metadata_uri, price_per_job, bond, status, active, \
         registered_at, jobs_completed, jobs_failed, rating_count, rating_sum, paid_jobs, payers, earned, rating_rank, kept) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, 0, 0, 0, 0, $12, 0, $13)")
        .bind((agent.id, agent.owner, &agent.name, model::slug(&agent.name), &agent.endpoint, &agent.metadata_uri))
        .bind((agent.price_per_job, agent.bond, agent.status, agent.status == model::AgentStatus::Active))
        .bind((agent.registered_at, Wei::ZERO.sort_key(), agent.rendered()?));
    Ok(insert)
}

/// Updates the rendered JSON after a change of any member.
fn update_rendered(tx: &Tx, agent: &model::AgentRecord) -> Result<(), HostError> {
    tx.defer(sql("UPDATE agents_agents SET kept = $2 WHERE id = $1").bind((agent.id, agent.rendered()?)))
}

/// Sets columns of the agent `$1`.
fn set(id: AgentId, columns: &str) -> Sql {
    sql(format!("UPDATE agents_agents SET {columns} WHERE id = $1 RETURNING {RECORD}")).bind(id)
}

async fn change(tx: &Tx, set: Sql) -> Result<Option<model::AgentRecord>, HostError> {
    let agent = tx.row(set).await?;
    agent.iter().try_for_each(|agent| update_rendered(tx, agent))?;
    Ok(agent)
}

pub async fn update(tx: &Tx, agent: &AgentUpdated) -> Result<Option<model::AgentRecord>, HostError> {
    let set = set(agent.id, "endpoint = $2, metadata_uri = $3, price_per_job = $4");
    change(tx, set.bind((&agent.endpoint, &agent.metadata_uri, agent.price_per_job))).await
}

pub async fn set_bond(tx: &Tx, id: AgentId, bond: Wei) -> Result<Option<model::AgentRecord>, HostError> {
    change(tx, set(id, "bond = $2").bind(bond)).await
}

pub async fn set_owner(tx: &Tx, id: AgentId, owner: Address) -> Result<Option<model::AgentRecord>, HostError> {
    change(tx, set(id, "owner = $2").bind(owner)).await
}

/// Returns the status before, and the agent after.
pub async fn set_status(
    tx: &Tx,
    id: AgentId,
    status: model::AgentStatus,
) -> Result<Option<(model::AgentStatus, model::AgentRecord)>, HostError> {
    let before = sql("SELECT status FROM agents_agents WHERE id = $1").bind(id);
    let set = set(id, "status = $2, active = $3").bind((status, status == model::AgentStatus::Active));
    let [before, after] = tx.run_all([before, set]).await?;
    let changed: Option<(model::AgentStatus, model::AgentRecord)> = before.first()?.zip(after.first()?);
    changed.iter().try_for_each(|(_, agent)| update_rendered(tx, agent))?;
    Ok(changed)
}

pub async fn find(tx: &Tx, id: AgentId) -> Result<Option<model::AgentRecord>, HostError> {
    tx.row(read(id)).await
}

fn read(id: AgentId) -> Sql {
    sql(format!("SELECT {RECORD} FROM agents_agents WHERE id = $1")).bind(id)
}

/// Selects the totals of an agent's jobs.
pub fn read_standing(id: AgentId) -> Sql {
    sql("SELECT paid_jobs, payers, earned, rating_count, rating_sum FROM agents_agents WHERE id = $1").bind(id)
}

/// Returns the totals of an agent's jobs, and the agent.
pub async fn standing(tx: &Tx, id: AgentId) -> Result<Option<(model::Standing, model::AgentRecord)>, HostError> {
    let [standing, agent] = tx.run_all([read_standing(id), read(id)]).await?;
    Ok(standing.first()?.zip(agent.first()?))
}

/// Stores an agent whose outcome is counted already.
pub fn set_outcome(agent: &model::AgentRecord, standing: &model::Standing) -> Result<Sql, HostError> {
    let update =
        sql("UPDATE agents_agents SET jobs_completed = $2, jobs_failed = $3, rating_count = $4, rating_sum = $5, \
         rating_rank = $6, kept = $7 WHERE id = $1")
        .bind((agent.id, agent.jobs_completed, agent.jobs_failed, standing.rating_count, standing.rating_sum))
        .bind((standing.rating_rank(), agent.rendered()?));
    Ok(update)
}

/// Stores totals of paid jobs, which are not part of the rendered JSON.
pub fn set_standing(id: AgentId, standing: &model::Standing) -> Sql {
    let update = "UPDATE agents_agents SET paid_jobs = $2, payers = $3, earned = $4, rating_rank = $5 WHERE id = $1";
    let model::Standing { paid_jobs, payers, earned, .. } = standing;
    sql(update).bind((id, paid_jobs, payers, earned.sort_key(), standing.rating_rank()))
}
