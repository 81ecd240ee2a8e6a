//! The plugin's tables, and what it reads of agents and jobs.

pub mod agents;
pub mod bounties;
pub mod citations;
pub mod claims;
pub mod outcomes;
pub mod state;
