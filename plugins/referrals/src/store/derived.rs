//! Agents, jobs and accounts, derived from chain events; and reads of agents.

use plugin_api::{
    Address, AgentId, HostError, Query, Sql,
    contracts::{
        ChainEvent,
        account_factory::AccountCreated,
        escrow::{JobCompleted, JobRequested},
        registry::{AgentRegistered, OwnershipTransferred},
    },
    sql,
};
use serde::Deserialize;

pub const AGENTS: &str = "referrals_agents";
pub const JOBS: &str = "referrals_jobs";
pub const ACCOUNTS: &str = "referrals_accounts";

pub fn insert_agent(event: &ChainEvent<AgentRegistered>) -> Sql {
    let AgentRegistered { id, owner, name, .. } = &event.args;
    let insert = "INSERT INTO referrals_agents (id, owner, name, registered_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (id) DO NOTHING";
    sql(insert).bind((id, owner, name, event.time_s))
}

pub fn set_owner(event: &ChainEvent<OwnershipTransferred>) -> Sql {
    sql("UPDATE referrals_agents SET owner = $2 WHERE id = $1").bind((event.args.id, event.args.to))
}

pub fn insert_job(event: &ChainEvent<JobRequested>) -> Sql {
    let JobRequested { job_id, agent_id, client, amount, .. } = &event.args;
    let insert = "INSERT INTO referrals_jobs (id, agent_id, client, amount) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (id) DO NOTHING";
    sql(insert).bind((job_id, agent_id, client, amount.sort_key()))
}

pub fn complete_job(event: &ChainEvent<JobCompleted>) -> Sql {
    let update = "UPDATE referrals_jobs SET completed_block = $2, completed_at = $3, tx_completed = $4 WHERE id = $1";
    sql(update).bind((event.args.job_id, event.block, event.time_s, event.tx))
}

pub fn insert_account(event: &ChainEvent<AccountCreated>) -> Sql {
    let insert = "INSERT INTO referrals_accounts (account, owner) VALUES ($1, $2) ON CONFLICT (account) DO NOTHING";
    sql(insert).bind((event.args.account, event.args.owner))
}

#[derive(Clone, Debug, Deserialize)]
pub struct Agent {
    pub owner: Address,
    pub name: String,
    pub registered_at: i64,
}

pub async fn agent(db: &impl Query, agent: AgentId) -> Result<Option<Agent>, HostError> {
    db.row(sql("SELECT owner, name, registered_at FROM referrals_agents WHERE id = $1").bind(agent)).await
}
