//! Handlers of chain events: agents, jobs and accounts. The rule: a row follows from events alone, and all three are in one index, so that
//! a client is never seen without the account that it is.

use crate::{
    Referrals,
    store::derived::{self, ACCOUNTS, AGENTS, JOBS},
};
use plugin_api::{
    Address, Definition, HostError, JobId, PluginContext, Sql, Tx,
    contracts::{ChainEvent, ContractEvent},
};
use serde::Deserialize;
use std::future::{Ready, ready};

#[derive(Deserialize, ContractEvent)]
#[serde(rename_all = "camelCase")]
#[contract_event("escrow", "JobCompleted(uint256 indexed jobId, uint256 agentPayout, uint256 fee, uint8 rating)")]
pub struct JobCompleted {
    pub job_id: JobId,
}

#[derive(Deserialize, ContractEvent)]
#[contract_event("accountFactory", "AccountCreated(address indexed owner, address indexed account)")]
pub struct AccountCreated {
    pub owner: Address,
    pub account: Address,
}

pub fn subscribe(definition: Definition<Referrals>) -> Definition<Referrals> {
    definition
        .on_contract_event(&[AGENTS], derive(derived::insert_agent))
        .on_contract_event(&[AGENTS], derive(derived::set_owner))
        .on_contract_event(&[JOBS], derive(derived::insert_job))
        .on_contract_event(&[JOBS], derive(derived::complete_job))
        .on_contract_event(&[ACCOUNTS], derive(derived::insert_account))
}

/// A handler that runs one statement.
fn derive<E: ContractEvent>(
    statement: fn(&ChainEvent<E>) -> Sql,
) -> impl Fn(PluginContext<Referrals>, Tx, ChainEvent<E>) -> Ready<Result<(), HostError>> {
    move |_, tx, event| ready(tx.defer(statement(&event)))
}
