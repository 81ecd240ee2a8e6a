//! The SQL.

mod burns;
mod snapshots;

pub use burns::{advance, forget_from, newest};
pub use snapshots::{put_snapshot, snapshot};
