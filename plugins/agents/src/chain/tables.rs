//! The tables that follow from chain events.

/// Every derived table: the gateway undoes their changes on a reorganisation.
pub const TABLES: [&str; 10] = [
    "agents_agents",
    "agents_jobs",
    "agents_payers",
    "agents_validations",
    "agents_feedback",
    "agents_counts",
    "agents_totals",
    "agents_records",
    "agents_clients",
    "agents_validators",
];
