//! Brings a plugin's tables up to date: all pending migrations of one plugin in one transaction.
//!
//! The rule: after a failure the database is exactly as before, and a migration that was applied never changes.

mod applied;
mod check;
mod count_changes;
mod directive;
mod directives;
mod failure;
mod queue_tables;
mod row_counts;
mod schema;
mod search_index;
mod step;

pub use applied::{AppliedMigration, CREATE_MIGRATIONS_TABLE, MigrationReport};
pub use count_changes::CountReplacement;
pub use failure::{FailureWords, describe};
pub use schema::MigrationSet;
pub use step::{RenderedMigration, check_applied, migration_problems, pending_steps, report, step_error, steps};
