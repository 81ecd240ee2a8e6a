//! The append-only activity log and the streams that are served from it.
//!
//! The rule (DESIGN, law 6): only facts enter it, inside the transaction that makes them true, and its ids become visible
//! in increasing order on both databases, so that who resumes after id N never misses a row.

mod chunk;
mod frame;
mod limits;
mod log;
mod reader;
mod ring;
mod sink;
mod topic;

pub use frame::{Filter, SharedFrame};
pub use limits::{StreamLimits, StreamSlot};
pub use log::{ActivityLog, MIGRATION, VIEW, WAKE_CHANNEL, check};
pub use reader::Events;
pub use sink::{BypassBytes, Sink, WriteOutcome};
pub use topic::{Render, Topic, TopicSettings};
