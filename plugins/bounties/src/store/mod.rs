//! The plugin's tables, and its reads of agents and jobs.

pub mod agents;
pub mod bounties;
pub mod citations;
pub mod claims;
pub mod outcomes;
pub mod selection;
pub mod state;
