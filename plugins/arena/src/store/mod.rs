//! The arena's tables, and its reads of agents, jobs and payloads through their views.

pub mod agents;
pub mod challenges;
pub mod closing;
pub mod links;
pub mod submissions;
pub mod votes;

/// `$first, …`: a list of `count` placeholders.
fn placeholders(first: usize, count: usize) -> String {
    (first..first + count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}
