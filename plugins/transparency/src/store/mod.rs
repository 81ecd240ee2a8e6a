//! All SQL, the key of the log, and the copy of its checkpoint outside of the database.

pub mod checkpoints;
pub mod leaves;
pub mod origins;
pub mod publications;
pub mod published;
pub mod tiles;

/// Sizes, indexes and numbers of leaves as the database has them.
fn from_db(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
