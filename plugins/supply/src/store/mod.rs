//! The SQL: how far base fees are counted, the last snapshot, and what pools said last.

mod burns;
mod market;
mod snapshots;

pub use burns::{advance, forget_from, newest};
pub use market::{market, put_market};
pub use snapshots::{put_snapshot, snapshot};
