//! A file per route.

pub mod get_agent_audit;
