//! Counters in the database: limits that protect money or a scarce resource, on all gateways and over restarts.
//!
//! The plugin makes one table for all its counters:
//!
//! ```sql
//! CREATE TABLE notes_counters (
//!     name   TEXT   NOT NULL,
//!     key    TEXT   NOT NULL,
//!     period BIGINT NOT NULL,
//!     used   BIGINT NOT NULL,
//!     PRIMARY KEY (name, key, period)
//! );
//! ```
//!
//! A key that is about a person, such as an IP address, is stored as a keyed hash: [`crate::HostHandle::secret`].
//!
//! ```
//! use plugin_api::{HostError, Tx};
//! use plugin_api::counter::{Count, Counter};
//!
//! const GIFTS: Counter = Counter::new("notes_counters", "gifts", 86_400);
//! const GIFTS_PER_DAY: i64 = 10;
//!
//! /// Whether the client may have another gift today; counted with what `tx` writes.
//! async fn count_gift(tx: &Tx, client: &str) -> Result<bool, HostError> {
//!     Ok(match GIFTS.take(tx, client, 1, GIFTS_PER_DAY).await? {
//!         Count::Counted { used } => used <= GIFTS_PER_DAY,
//!         Count::Full { retry_after_s: _ } => false,
//!     })
//! }
//! ```

pub use crate::sdk::{Count, Counter};
