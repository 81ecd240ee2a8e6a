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

pub(crate) use applied::CREATE_MIGRATIONS_TABLE;
pub use applied::{AppliedMigration, MigrationReport};
pub(crate) use count_changes::CountReplacement;
#[cfg(feature = "simulation")]
pub(crate) use directive::Directive;
#[cfg(feature = "simulation")]
pub(crate) use directives::with_simulated_directives;
pub(crate) use failure::{FailureWords, describe};
#[cfg(feature = "simulation")]
pub(crate) use row_counts::write_triggers as write_count_triggers;
pub use schema::MigrationSet;
pub use step::migration_problems;
#[cfg(feature = "simulation")]
pub(crate) use step::simulated_steps;
pub(crate) use step::{RenderedMigration, check_applied, pending_steps, report, step_error, steps};
