//! The transaction that a plugin gets with a batch of chain events.
//!
//! The rule: what a handler writes and publishes belongs to the event that it was called with, because that decides
//! with which block it is undone. The plugin's side names that event, and must take all events in their order.

use super::store::IndexStore;
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};
use gateway_activity::CheckedEvent;
use gateway_plugins::PluginTransaction;
use gateway_storage::StorageError;
use parking_lot::Mutex;
use plugin_api::abi::{
    CapabilityResponse, FfiBytes, HostError, HostErrorCode, NewEvent, Statement, StatementResult,
    Transaction as AbiTransaction, Transaction_TO, TransactionBox,
};
use std::sync::Arc;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Events that one chain event may publish; more are an error of the plugin.
const PUBLISHED_MAX: usize = 1000;
/// With so many deferred statements behind those that run, the plugin waits for the database.
const DEFERRED_MAX: usize = 2_000;

pub(crate) struct EventBatchTransaction {
    transaction: Arc<PluginTransaction>,
    store: IndexStore,
    /// For each event, the block in the undo log to which its changes belong.
    undo_blocks: Vec<i64>,
    state: Mutex<BatchState>,
    tasks: TaskTracker,
    /// Runs deferred statements while the plugin handles the next events.
    flush: tokio::sync::Mutex<Option<FlushTask>>,
}

type FlushTask = AbortOnDropHandle<Result<(), StorageError>>;

#[derive(Default)]
struct BatchState {
    /// How many events the plugin has started to handle.
    events_begun: usize,
    undo_block: Option<i64>,
    /// With the index of the event that published it.
    published: Vec<(usize, CheckedEvent)>,
    error: Option<String>,
}

impl EventBatchTransaction {
    pub(crate) fn new(
        transaction: &Arc<PluginTransaction>,
        store: &IndexStore,
        undo_blocks: Vec<i64>,
        tasks: &TaskTracker,
    ) -> Arc<Self> {
        let (transaction, store, tasks) = (transaction.clone(), store.clone(), tasks.clone());
        let (state, flush) = (Mutex::default(), tokio::sync::Mutex::default());
        Arc::new(Self { transaction, store, undo_blocks, state, tasks, flush })
    }

    pub(crate) fn handle(self: &Arc<Self>) -> TransactionBox {
        Transaction_TO::from_value(Handle(self.clone()), TD_Opaque)
    }

    /// Waits until all deferred statements have run. An error in them fails the events.
    pub(crate) async fn flush(&self) -> Result<(), StorageError> {
        Self::join(&mut *self.flush.lock().await).await?;
        self.transaction.run_derived(Vec::new()).await.map(drop)
    }

    async fn join(flush: &mut Option<FlushTask>) -> Result<(), StorageError> {
        let Some(task) = flush else { return Ok(()) };
        let outcome = task.await;
        *flush = None;
        // A task ends early only when the plugin stops.
        outcome.unwrap_or_else(|_| Err(StorageError::Closed("the plugin stops".to_owned())))
    }

    /// Runs statements after the deferred ones. Without statements it starts a task that runs the deferred ones, or
    /// leaves them where they are while an earlier task runs. For a single event it always waits, so that its handler
    /// gets the error.
    async fn run(&self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, StorageError> {
        let mut flush = self.flush.lock().await;
        let needs_outcome = !statements.is_empty() || self.undo_blocks.len() == 1;
        let is_running = flush.as_ref().is_some_and(|task| !task.is_finished());
        if !needs_outcome && is_running && self.transaction.deferred_count() < DEFERRED_MAX {
            return Ok(Vec::new());
        }
        Self::join(&mut flush).await?;
        if needs_outcome {
            return self.transaction.run_derived(statements).await;
        }
        let transaction = self.transaction.clone();
        let task = self.tasks.spawn(async move { transaction.run_derived(Vec::new()).await.map(drop) });
        *flush = Some(AbortOnDropHandle::new(task));
        Ok(Vec::new())
    }

    /// The published events, if the plugin took every event.
    pub(crate) fn finish(&self) -> Result<Vec<(usize, CheckedEvent)>, String> {
        let mut state = self.state.lock();
        match state.error.take() {
            Some(error) => Err(error),
            None if state.events_begun < self.undo_blocks.len() => Err("the plugin left out events".to_owned()),
            None => Ok(std::mem::take(&mut state.published)),
        }
    }

    fn begin_event(&self, index: u32) {
        let mut state = self.state.lock();
        match self.undo_blocks.get(index as usize) {
            Some(block) if index as usize == state.events_begun => {
                state.events_begun += 1;
                if state.undo_block.replace(*block) != Some(*block)
                    && let Err(error) = self.transaction.defer_as_host(self.store.allow_writes(*block))
                {
                    state.error = Some(error.to_string());
                }
            }
            _ => state.error = Some("the plugin took an event out of its order".to_owned()),
        }
    }

    fn publish(&self, event: NewEvent) -> Result<(), HostError> {
        let event = CheckedEvent::check_derived(event)?;
        self.transaction.check_declared(&event.as_event().kind)?;
        let invalid = |message: String| HostError::new(HostErrorCode::Invalid, message);
        let mut state = self.state.lock();
        let index = state.events_begun.checked_sub(1).ok_or_else(|| invalid("no chain event was begun".to_owned()))?;
        let count = state.published.iter().rev().take_while(|(of, _)| *of == index).count();
        if count >= PUBLISHED_MAX {
            return Err(invalid(format!("more than {PUBLISHED_MAX} events follow from one chain event")));
        }
        state.published.push((index, event));
        Ok(())
    }
}

/// The transaction as the ABI sees it.
struct Handle(Arc<EventBatchTransaction>);

impl AbiTransaction for Handle {
    fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<StatementResult>, HostError>> {
        let transaction = self.0.clone();
        async move {
            let outcomes = transaction.run(statements.into_vec()).await;
            outcomes.map(RVec::from).map_err(HostError::from).into()
        }
        .into_ffi()
    }

    fn defer(&self, statement: Statement) -> RResult<(), HostError> {
        self.0.transaction.defer(statement).map_err(HostError::from).into()
    }

    fn begin_event(&self, index: u32) {
        self.0.begin_event(index);
    }

    fn publish(&self, event: NewEvent) -> RResult<(), HostError> {
        self.0.publish(event).into()
    }

    fn call(&self, _: RString, _: FfiBytes) -> FfiFuture<RResult<CapabilityResponse, HostError>> {
        let message = "what is sent cannot be taken back with the chain: a job sends what follows from its events";
        std::future::ready(RResult::RErr(HostError::new(HostErrorCode::Refused, message))).into_ffi()
    }

    fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
        let message = "the gateway commits the transaction of chain events after the last of them";
        std::future::ready(RResult::RErr(HostError::new(HostErrorCode::Refused, message))).into_ffi()
    }
}
