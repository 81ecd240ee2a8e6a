//! What the gateway offers to a plugin: capabilities, never keys, drivers or runtimes.

use super::{Fault, FfiBytes, HostError, Outcome, Rows, Statement};
use abi_stable::{
    StableAbi, sabi_trait,
    std_types::{RBox, RResult, RStr, RString, RVec},
};
use async_ffi::FfiFuture;

/// The capabilities of one plugin. Calls are cheap; futures may be dropped at any time, which cancels the work.
#[sabi_trait]
pub trait Host: Send + Sync {
    /// A JSON [`crate::manifest::Environment`]: what stays the same for the life of the plugin.
    fn environment(&self) -> RStr<'_>;
    /// Unix time in milliseconds, by the gateway's clock (tests move it).
    fn now_ms(&self) -> i64;
    /// Completes after that long by the gateway's clock.
    fn sleep(&self, duration_ms: u64) -> FfiFuture<()>;
    /// Runs a task in the background until it ends, is aborted, or the plugin stops.
    fn spawn(&self, name: RString, task: FfiFuture<()>) -> TaskBox;
    /// Runs CPU-heavy work (a future that never waits) off the threads that serve requests.
    fn blocking(&self, work: FfiFuture<()>) -> FfiFuture<()>;
    /// Reads on a snapshot, outside any transaction; dropping the future interrupts the statement.
    fn read(&self, statement: Statement) -> FfiFuture<RResult<Rows, HostError>>;
    /// A transaction of the plugin's own, opened by its first statement; dropped without `commit`, it rolls back.
    fn begin(&self) -> TransactionBox;
    /// Asks every plugin that contributes to an extension point; answers a JSON array of `{plugin, value}`.
    fn collect(&self, point: RString, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, HostError>>;
    /// A capability whose question and answer are JSON (`fetch`, `check_url`, `chain`, `tx`, `sign`), with raw bytes beside them.
    fn ask(&self, capability: RString, question: FfiBytes, body: FfiBytes) -> FfiFuture<RResult<Reply, HostError>>;
    /// A failure that no call returns (a background task, a drop).
    fn fault(&self, place: RStr<'_>, fault: Fault);
    /// Adds to a counter that operators see under the plugin's name; `labels` is a JSON object of strings.
    fn count(&self, metric: RStr<'_>, labels: RStr<'_>, amount: u64);
    /// A log line: level 1 error, 2 warn, 3 info, 4 debug, 5 trace.
    #[sabi(last_prefix_field)]
    fn log(&self, level: u8, message: RStr<'_>);
}
pub type HostBox = Host_TO<'static, RBox<()>>;

/// The answer of [`Host::ask`].
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Reply {
    pub answer: FfiBytes,
    pub body: FfiBytes,
}

#[sabi_trait]
pub trait Task: Send + Sync {
    #[sabi(last_prefix_field)]
    fn abort(&self);
}
pub type TaskBox = Task_TO<'static, RBox<()>>;

/// Statements that take effect together or not at all.
#[sabi_trait]
pub trait Transaction: Send + Sync {
    /// Runs the statements in order; the first that fails rolls the whole transaction back. Without any, it runs what was
    /// deferred.
    fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<Outcome>, HostError>>;
    /// Takes a statement whose outcome nobody waits for. It runs before the next ones of `run` (whose answer is its failure,
    /// if it fails), at the latest before the commit.
    fn defer(&self, statement: Statement) -> RResult<(), HostError>;
    /// What follows belongs to the chain event at this place of the list; places come in their order, from 0, each once.
    fn begin_event(&self, place: u32);
    /// Adds a JSON [`crate::manifest::NewEvent`] to the activity log, in the same commit.
    fn publish(&self, event: FfiBytes) -> RResult<(), HostError>;
    /// As [`Host::ask`], for what must commit with this transaction or not at all (`tx`).
    fn ask(&self, capability: RString, question: FfiBytes) -> FfiFuture<RResult<Reply, HostError>>;
    /// Answers when the transaction is durable. Refused on a request's own transaction, which the gateway commits.
    #[sabi(last_prefix_field)]
    fn commit(&self) -> FfiFuture<RResult<(), HostError>>;
}
pub type TransactionBox = Transaction_TO<'static, RBox<()>>;
