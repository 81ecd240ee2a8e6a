//! The capabilities that the gateway offers to a plugin: never keys, drivers or runtimes.

use super::{Fault, FfiBytes, HostError, NewEvent, Rows, Statement, StatementResult};
use abi_stable::{
    StableAbi, sabi_trait,
    std_types::{RBox, ROption, RResult, RStr, RString, RVec},
};
use async_ffi::{FfiContext, FfiFuture, FfiPoll};

/// The capabilities of one plugin. Calls are cheap; dropping a future cancels its work.
#[sabi_trait]
pub trait Host: Send + Sync {
    /// A JSON [`crate::manifest::Environment`], constant for the life of the plugin.
    fn environment(&self) -> RStr<'_>;
    /// Unix time in milliseconds, by the gateway's clock (which tests control).
    fn now_ms(&self) -> i64;
    /// Completes after this duration by the gateway's clock.
    fn sleep(&self, duration_ms: u64) -> FfiFuture<()>;
    /// Runs a task in the background until it ends, is aborted, or the plugin stops.
    fn spawn(&self, name: RString, task: FfiFuture<()>) -> TaskBox;
    /// Runs CPU-heavy work (a future that never waits) off the threads that serve requests.
    fn blocking(&self, work: FfiFuture<()>) -> FfiFuture<()>;
    /// Reads on a snapshot, outside any transaction; dropping the future interrupts the statement.
    fn read(&self, statement: Statement) -> FfiFuture<RResult<Rows, HostError>>;
    /// A new transaction, opened by its first statement; dropping it without `commit` rolls it back. It does not run again, so the
    /// manifest has to say [`crate::manifest::Manifest::own_transactions`]: otherwise every call of the transaction is refused.
    fn begin(&self) -> TransactionBox;
    /// Calls every plugin that contributes to an extension point; returns a JSON array of `{plugin, value}`.
    fn collect(&self, point: RString, input: FfiBytes) -> FfiFuture<RResult<FfiBytes, HostError>>;
    /// Calls a capability whose request and response are JSON (`fetch`, `check_url`, `chain`, `index`, `tx`, `sign`, `secret`, `file`, `wake`,
    /// `service`, `presence`, `contributors`, `data_version`, `log_batch`, `queue_renew`), each with an additional body of raw bytes.
    fn call(
        &self,
        capability: RString,
        request: FfiBytes,
        body: FfiBytes,
    ) -> FfiFuture<RResult<CapabilityResponse, HostError>>;
    /// Reports a failure that no call can return (of a background task, of a drop).
    fn fault(&self, place: RStr<'_>, fault: Fault);
    /// Adds to a counter that operators see under the plugin's name; `labels` is a JSON object of strings.
    fn count(&self, metric: RStr<'_>, labels: RStr<'_>, amount: u64);
    /// Writes a log line: level 1 error, 2 warn, 3 info, 4 debug, 5 trace.
    fn log(&self, level: u8, message: RStr<'_>);
    /// As `begin`, for one attempt of a write that the plugin declares to be repeatable: see [`crate::abi::Head::begin_write`]. After a
    /// [`crate::HostErrorCode::Conflict`] the plugin begins the next attempt.
    fn begin_write(&self) -> TransactionBox;
    /// As the capability `fetch` of `call`, up to the head of the response: the plugin reads its body while it arrives. The
    /// request is a JSON [`crate::manifest::FetchCall`].
    #[sabi(last_prefix_field)]
    fn fetch_streamed(&self, request: FfiBytes, body: FfiBytes) -> FfiFuture<RResult<StreamedResponse, HostError>>;
}
pub type HostBox = Host_TO<'static, RBox<()>>;

/// The response of [`Host::call`].
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct CapabilityResponse {
    pub response: FfiBytes,
    pub body: FfiBytes,
}

/// The response of [`Host::fetch_streamed`].
#[repr(C)]
#[derive(StableAbi)]
pub struct StreamedResponse {
    /// A JSON [`crate::manifest::FetchHead`].
    pub head: FfiBytes,
    pub body: FetchBodyBox,
}

/// The body of a response from outside, chunk by chunk: the other side is stopped while nobody polls, and dropping it closes the
/// connection. An error is the last item.
#[sabi_trait]
pub trait FetchBody: Send {
    #[sabi(last_prefix_field)]
    fn poll_next(&mut self, context: &mut FfiContext<'_>) -> FfiPoll<ROption<RResult<FfiBytes, HostError>>>;
}
pub type FetchBodyBox = FetchBody_TO<'static, RBox<()>>;

#[sabi_trait]
pub trait Task: Send + Sync {
    #[sabi(last_prefix_field)]
    fn abort(&self);
}
pub type TaskBox = Task_TO<'static, RBox<()>>;

/// A database transaction.
#[sabi_trait]
pub trait Transaction: Send + Sync {
    /// Runs the statements in order; the first one that fails rolls the whole transaction back. An empty list runs the
    /// deferred statements.
    fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<StatementResult>, HostError>>;
    /// Queues a statement whose outcome is not needed. It runs before the statements of the next `run` (which returns its
    /// error, if it fails), at the latest before the commit.
    fn defer(&self, statement: Statement) -> RResult<(), HostError>;
    /// The statements and events that follow belong to the chain event at this index of the list; called in order from 0,
    /// once per event.
    fn begin_event(&self, index: u32);
    /// Adds an event to the activity log, in the same commit.
    fn publish(&self, event: NewEvent) -> RResult<(), HostError>;
    /// As [`Host::call`], for requests that must commit with this transaction or not at all (`tx`, `log_done`, `queue`,
    /// `charge`, `service`).
    fn call(&self, capability: RString, request: FfiBytes) -> FfiFuture<RResult<CapabilityResponse, HostError>>;
    /// Completes when the transaction is durable. Refused on a transaction that the gateway commits: [`crate::abi::Head::transaction`],
    /// and that of chain events.
    #[sabi(last_prefix_field)]
    fn commit(&self) -> FfiFuture<RResult<(), HostError>>;
}
pub type TransactionBox = Transaction_TO<'static, RBox<()>>;
