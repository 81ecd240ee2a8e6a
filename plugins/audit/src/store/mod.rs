//! The SQL: agents through their published view, and the logs of the chain.

pub mod agents;
pub mod derived;
pub mod logs;
