//! The arena's tables, and its reads of agents and jobs through their views.

pub mod agents;
pub mod awards;
pub mod challenges;
pub mod closing;
pub mod submissions;
pub mod votes;
