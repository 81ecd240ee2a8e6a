//! The derived tables: migrations create them, handlers of chain events write them, routes read them.

pub mod accounts;
pub mod directory;
pub mod disputes;
pub mod plans;
pub mod record;
pub mod streams;
pub mod subs;
pub mod tokens;

use plugin_api::{Sql, contracts::ChainEvent};

/// The number of the event's block, for a column.
pub fn block<Args>(event: &ChainEvent<Args>) -> i64 {
    i64::try_from(event.block).unwrap_or(i64::MAX)
}

/// Appends ` IN (…)` with these ids; without ids no row matches.
fn push_ids(statement: Sql, ids: impl IntoIterator<Item = i64>) -> Sql {
    let begun = statement.push(" IN (NULL");
    ids.into_iter().fold(begun, |statement, id| statement.push_bind(", {}", id)).push(")")
}
