//! Durable queues: tasks that plugins push in their transactions, and that any gateway on the database runs.
//!
//! The rule: a key is leased to one gateway at a time, under a token that never comes again, and an outcome counts only under the token
//! of its key. The tables are made by `{{queue TABLE}}` (`host/storage/src/migrations/queue_tables.rs`). A plugin's write touches
//! them as `tasks.rs` says; everything else happens in scheduling cycles (`scheduling_cycle.rs`), one of all gateways at a time.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod gauges;
mod lease_tokens;
mod scheduling_cycle;
mod statements;
mod store;
mod task_slots;
mod tasks;
mod wakes;
mod worker;

#[cfg(test)]
mod tests;

pub use store::QueueStore;
pub use tasks::{end_statement, is_lease_held, new_ids, push_statements, renew_statement};
pub use wakes::QueueWakes;
pub use worker::{QueueWorker, TaskHandler, TaskResult};
