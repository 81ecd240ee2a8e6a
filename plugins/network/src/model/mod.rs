//! Sums, edges and agents as they are returned, how alike two agents are, and the picture of all.

mod average;
mod node;
mod picture;
mod query;
mod similarity;
mod sums;

pub use average::{Hundredths, average};
pub use node::{AgentRow, Edge, EdgeView, Ends, NodeView, Provenance};
pub use picture::{Graph, render};
pub use query::{EdgeFilter, NetworkQuery};
pub use similarity::{Candidate, METHOD, Method, SimilarAgentView, Subject, preselect, rank};
pub use sums::{Kind, Parties, Settlement, Sums};
