//! Durable queues: what gateway and plugin exchange about their tasks.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A queue whose tasks the plugin handles: [`crate::abi::PluginObject::run_task`] takes the index in the manifest's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueSpec {
    /// The table that `{{queue TABLE}}` made, which is the queue's name.
    pub table: String,
}

/// How the gateway runs the tasks of a queue: what [`crate::abi::PluginObject::queue_limits`] returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueLimits {
    /// How long to wait after the first failure, the second, …: one attempt more than there are waits.
    pub backoff_ms: Vec<u64>,
    /// Tasks of one gateway that run at the same time.
    pub concurrency: u32,
    /// Tasks of one group that run at the same time, on all gateways.
    pub concurrency_per_group: u32,
    pub lease_ms: u64,
    /// Of one call of the handler.
    pub timeout_ms: u64,
    /// Tasks of keys that take longer share a quarter of the places.
    pub slow_after_ms: u64,
    /// How long dead tasks are kept.
    pub keep_dead_ms: u64,
}

/// A task that the plugin is to handle.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueueTask {
    pub id: i64,
    pub key: String,
    /// Of the lease: an outcome is written only while it is that of the key.
    pub token: i64,
    /// From 1.
    pub attempt: u32,
    pub pushed_ms: i64,
    /// How long to wait before the next attempt; none when this is the last one.
    pub retry_wait_ms: Option<u64>,
    pub slow_after_ms: u64,
    pub lease_ms: u64,
    /// How long ago the gateway began to acquire the lease. Older gateways do not say.
    #[serde(default)]
    pub lease_age_ms: Option<u64>,
    pub payload: Box<RawValue>,
}

/// How a call of the handler ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEnd {
    /// Well, and without an outcome: the task is done.
    Unrecorded,
    /// The handler has recorded the outcome.
    Recorded,
    /// The lease of its key was lost: another gateway has the task.
    Lost,
}

/// The request of the capability `queue`, inside a transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueCall {
    /// Answers with the ids of those that are new, as a list.
    Push { table: String, tasks: Vec<PushedTask> },
    /// Fails with [`crate::HostErrorCode::Constraint`] when the lease was lost.
    End { table: String, lease: TaskLease, outcome: TaskOutcome },
}

/// The request of the capability `queue_renew`: the response is whether the lease was still there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RenewCall {
    pub table: String,
    pub lease: TaskLease,
    pub lease_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PushedTask {
    pub key: String,
    pub group: String,
    pub payload: Box<RawValue>,
    /// Unix milliseconds; at once without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique: Option<String>,
}

/// The right to end a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLease {
    pub task: i64,
    pub key: String,
    pub token: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskOutcome {
    Done { is_slow: bool },
    Retry { due_ms: i64, reason: String },
    Dead { reason: String },
}
