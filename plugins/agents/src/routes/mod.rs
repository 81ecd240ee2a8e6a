//! One file per operation.

pub mod get_agent;
pub mod get_agent_registration;
pub mod get_job;
pub mod list_agent_jobs;
pub mod list_agents;
pub mod list_jobs;
