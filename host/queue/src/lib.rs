//! Durable queues: tasks that plugins push in their transactions, and that any gateway on the database runs.
//!
//! The rule: a key is leased to one gateway at a time, under a token that never comes again, and an outcome counts only under the token
//! of its key. The tables are made by `{{queue TABLE}}` (`host/storage/src/migrations/queue_tables.rs`). Four kinds of writes change them:
//! plugins' writes, which push tasks and record outcomes, and renewals of leases, each a transaction of its own (`tasks.rs`); scheduling
//! cycles (`scheduling_cycle.rs`), of which one runs at a time on all gateways together; and prunings (`store.rs`), under the cycles' lock.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod lease_tokens;
mod queue_metrics;
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
pub use worker::{QueueWorker, QueueWorkerConfig, TaskHandler, TaskResult};
