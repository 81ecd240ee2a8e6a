//! The append-only activity log and the streams that are served from it.
//!
//! The rule (DESIGN, law 6): only facts enter the log, inside the transaction that makes them true, and its ids become
//! visible in increasing order on both databases, so that a client that resumes after id N never misses a row.

mod chunk;
mod chunk_cache;
mod frame;
mod limits;
mod log;
mod reader;
mod rendered_log;
mod ring;
mod sink;
mod stream;
mod topic;

pub use limits::{StreamLimits, StreamSlot};
pub use log::{ActivityLog, MIGRATION, VIEW, WAKE_CHANNEL, check};
pub use rendered_log::Render;
pub use sink::{BypassBytes, Sink, WriteOutcome};
pub use stream::EventStream;
pub use topic::{Topic, TopicSettings};
