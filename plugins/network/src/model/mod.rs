//! Sums, edges and agents as they are returned, and how alike two agents are.

mod average;
mod node;
mod query;
mod similarity;
mod sums;

pub use average::{Hundredths, average};
pub use node::{AgentName, AgentRow, EdgeView, Ends, NodeView, Provenance};
pub use query::{EdgeFilter, KINDS, NetworkQuery};
pub use similarity::{Candidate, METHOD, Method, SimilarAgentView, Subject, preselect, rank};
pub use sums::{Kind, Parties, Settlement, Sums};
