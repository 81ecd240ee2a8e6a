//! What tests may ask of a simulated server.

/// What has happened at a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationCounts {
    /// Transactions that wrote.
    pub commits: u64,
    /// Serialisation failures and deadlocks.
    pub conflicts: u64,
    /// Times that a transaction waited for another one.
    pub waits: u64,
    /// Connections that failed, with and without an answer of COMMIT.
    pub lost_connections: u64,
    pub lost_commit_answers: u64,
    pub late_commits: u64,
    pub lost_notifications: u64,
    /// Results of an open transaction that somebody changed: a fault of the model.
    pub unexpected: u64,
}
