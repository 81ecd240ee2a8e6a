//! The events of contracts, from which plugins derive rows.
//!
//! Events that several plugins read are defined here once, with one module per contract; [`ContractEvent`] defines one that only
//! this plugin reads. [`Definition::on_contract_event`](crate::Definition::on_contract_event) has the rules for handlers.
//!
//! ```
//! use plugin_api::{AgentId, Definition, HostError, JobId, Plugin, PluginContext, Tx, sql};
//! use plugin_api::contracts::{ChainEvent, ContractEvent, account_factory, chain_int, escrow, registry, x402_vault};
//!
//! #[derive(serde::Deserialize, ContractEvent)]
//! #[serde(rename_all = "camelCase")]
//! #[contract_event("escrow", "JobRated(uint256 indexed jobId, uint256 rating)")]
//! struct JobRated {
//!     job_id: JobId,
//!     #[serde(deserialize_with = "chain_int")]
//!     rating: i64,
//! }
//!
//! async fn rated<P: Plugin>(_: PluginContext<P>, tx: Tx, event: ChainEvent<JobRated>) -> Result<(), HostError> {
//!     let JobRated { job_id, rating } = event.args;
//!     tx.defer(sql("UPDATE notes_jobs SET rating = $2 WHERE id = $1").bind(job_id).bind(rating))
//! }
//!
//! async fn requested<P>(_: PluginContext<P>, tx: Tx, event: ChainEvent<escrow::JobRequested>) -> Result<(), HostError> {
//!     let agent: AgentId = event.args.agent_id;
//!     tx.defer(sql("INSERT INTO notes_jobs (id, agent) VALUES ($1, $2)").bind(event.args.job_id).bind(agent))
//! }
//!
//! fn index<P: Plugin>(definition: Definition<P>) -> Definition<P> {
//!     let tables = &["notes_jobs"];
//!     definition.on_contract_event(tables, requested).on_contract_event(tables, rated)
//! }
//!
//! assert_eq!(registry::AgentRegistered::CONTRACT, registry::OwnershipTransferred::CONTRACT);
//! assert_eq!(account_factory::AccountCreated::CONTRACT, "accountFactory");
//! assert!(x402_vault::Settled::SIGNATURE.starts_with("Settled(address indexed payer,"));
//! ```

pub use crate::manifest::ChainEvent;
pub use crate::sdk::contracts::{account_factory, escrow, registry, x402_vault};
pub use crate::sdk::{ContractEvent, chain_int};
