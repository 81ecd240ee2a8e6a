//! The append-only activity log and the streams that are served from it.
//!
//! The rule: only facts enter the log, inside the transaction that makes them true, and its ids become
//! visible in increasing order on both databases, so that a client that resumes after id N never misses a row. What a
//! reorganisation of the chain undoes is retracted by a later event, and left out from then on.
//!
//! On SQLite an event is in the log when its transaction is committed. On PostgreSQL, where writers share no lock, it is in
//! the outbox then, and one sequencer of all gateways gives it the next position a moment later.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod chunk;
mod chunk_cache;
mod event;
mod frame;
mod log;
mod migrations;
mod outbox;
mod reader;
mod rendered_log;
mod ring;
mod sequencer;
mod sequencer_task;
mod sink;
mod stream;
mod stream_limits;
mod topic;

pub use chunk::chunk;
pub use event::{CheckedEvent, DATA_BYTES_MAX as EVENT_DATA_BYTES_MAX};
pub use log::{ActivityLog, LogPage, PublicEvent, VIEW, VIEW_OF_RETRACTED, VIEW_WITH_RETRACTED, WAKE_CHANNEL};
pub use migrations::{
    by_actor_migration, log_migration, outbox_migration, retracted_by_actor_migration, retracted_migration,
    sparse_keys_migration, whole_log_migration,
};
pub use rendered_log::Render;
pub use sequencer::{LeaseState, SequencedBatch, Sequencer};
pub use sequencer_task::{SequencerSettings, run_sequencer};
pub use sink::{BypassBytes, Sink, WriteOutcome};
pub use stream::EventStream;
pub use stream_limits::{StreamLimits, StreamSlot};
pub use topic::{Topic, TopicSettings};
