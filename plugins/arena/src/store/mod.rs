//! The arena's tables, and what it reads of agents, jobs and payloads by their views.

pub mod agents;
pub mod challenges;
pub mod closing;
pub mod links;
pub mod submissions;
pub mod votes;

/// `$first, …` for that many values.
fn placeholders(first: usize, count: usize) -> String {
    (first..first + count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}
