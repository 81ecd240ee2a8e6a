//! The derived tables: migrations create them, handlers of chain events write them, routes read them.

pub mod accounts;
pub mod directory;
pub mod disputes;
pub mod plans;
pub mod record;
pub mod streams;
pub mod subs;
pub mod tokens;

use plugin_api::contracts::ChainEvent;

/// The number of the event's block, for a column.
pub fn block<Args>(event: &ChainEvent<Args>) -> i64 {
    i64::try_from(event.block).unwrap_or(i64::MAX)
}
