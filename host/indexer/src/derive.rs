//! Lets the plugin derive its rows from a batch of events.
//!
//! The rule: a batch is one call, and a failed batch is tried again event by event, so that the error names the event. One that
//! conflicted with another transaction did not fail: it runs again as it was ([`super::conflicts`]).

use super::{
    batch::Batch,
    decode::DecodedEvent,
    error::IndexError,
    event_batch_transaction::EventBatchTransaction,
    events_ahead::{EventsAhead, PassedEvents},
    index::Index,
    store::{EmittedEvent, IndexRow, NO_UNDO, to_i64},
    unique_keys::UniqueKeys,
};
use abi_stable::std_types::RResult;
use gateway_activity::CheckedEvent;
use gateway_config::MAIN;
use gateway_plugins::{
    CommitMode, PluginTransaction,
    conflicts::Attempts,
    polls::{GateClosed, ProcessInstant},
};
use gateway_storage::{StorageError, decode_rows};
use plugin_api::abi::{Fault, FaultKind, Statement};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Time for a handler to apply one event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(4);
/// Failures do not count against the plugin when the database was unavailable within this time.
const UNAVAILABLE_WINDOW: Duration = Duration::from_secs(10);
/// Keys of one statement: databases limit its parameters.
const STATEMENT_KEYS: usize = 1_000;

/// A transaction with derived rows, and what ends it.
pub(crate) struct DerivedBatch {
    pub transaction: Arc<PluginTransaction>,
    pub emitted: Vec<EmittedEvent>,
    pub passed: PassedEvents,
}

impl Index {
    /// Derives the rows of a batch, of which `row` is the state before.
    pub(super) async fn derive(&self, row: &IndexRow, batch: &Batch) -> Result<DerivedBatch, IndexError> {
        let mut attempts = Attempts::default();
        loop {
            let derived = self.derive_once(row, batch).await;
            if !self.runs_again(&mut attempts, derived.as_ref().err()).await {
                return derived;
            }
        }
    }

    pub(super) async fn derive_once(&self, row: &IndexRow, batch: &Batch) -> Result<DerivedBatch, IndexError> {
        let (transaction, emitted) = self.derive_rows(batch).await?;
        let passed = self.pass_events_ahead(&transaction, (row, batch), &emitted).await?;
        Ok(DerivedBatch { transaction, emitted, passed })
    }

    /// Removes the rows of the events that the batch derives again or whose block it passes, in its transaction.
    async fn pass_events_ahead(
        &self,
        transaction: &PluginTransaction,
        (row, batch): (&IndexRow, &Batch),
        emitted: &[EmittedEvent],
    ) -> Result<PassedEvents, IndexError> {
        if row.events_ahead == EventsAhead::default() {
            return Ok(PassedEvents::default());
        }
        let keys = emitted.iter().filter_map(EmittedEvent::unique_key);
        let (derived_again, are_missing, left) = row.events_ahead.pass(keys, batch.cursor.next_block);
        if derived_again.is_empty() && !are_missing {
            return Ok(PassedEvents { left, ..PassedEvents::default() });
        }
        let after = to_i64(row.cursor.next_block) - 1;
        let last = to_i64(batch.cursor.next_block) - 1;
        let keys: Vec<&String> = derived_again.iter().collect();
        let delete = |keys: &[&String]| self.store.delete_public_events(after, keys);
        let mut statements: Vec<Statement> = keys.chunks(STATEMENT_KEYS).map(delete).collect();
        if are_missing {
            // What is left up to the last block of the batch was not derived again.
            let passed = || self.store.public_keys_between(after, last);
            statements.extend(self.transactions.activity.withdrawal_statement(passed()));
            statements.push(self.store.select_public_events(passed()));
        }
        let outcomes = transaction.run_as_host(statements).await?;
        if are_missing {
            let delete = self.store.delete_public_events_of(after, self.store.public_keys_between(after, last));
            transaction.run_as_host(vec![delete]).await?;
        }
        let retracted = outcomes.last().filter(|_| are_missing);
        let retracted = retracted.map_or(Ok(Vec::new()), |outcome| decode_rows(&outcome.rows))?;
        Ok(PassedEvents { derived_again, retracted, left })
    }

    async fn derive_rows(&self, batch: &Batch) -> Result<(Arc<PluginTransaction>, Vec<EmittedEvent>), IndexError> {
        let begin = || {
            let (scope, manifest) = (self.scope.with_time_factor(self.time_factor), &self.plugin.manifest);
            PluginTransaction::of_plugin(&self.transactions, scope, CommitMode::Index, manifest)
        };
        let transaction = begin();
        match self.apply(&transaction, batch, batch.events.len()).await {
            Err(IndexError::Handler(reason)) if batch.events.len() > 1 => {
                tracing::debug!(plugin = self.plugin.name(), reason, "applying the events of a batch one by one");
                transaction.roll_back().await;
            }
            Err(error) => return Err(error),
            Ok(emitted) => return Ok((transaction, emitted)),
        }
        let transaction = begin();
        let emitted = self.apply(&transaction, batch, 1).await?;
        Ok((transaction, emitted))
    }

    /// Applies the batch with at most `call_events` events per call of the plugin.
    async fn apply(
        &self,
        transaction: &Arc<PluginTransaction>,
        batch: &Batch,
        call_events: usize,
    ) -> Result<Vec<EmittedEvent>, IndexError> {
        // Half of the database's limit: a transaction that the database ends would look like an error of the plugin.
        let time = self.transaction_timeout * self.time_factor / 2;
        let deadline = Instant::now() + time;
        let events = batch.events.as_slice();
        let block = |event: Option<&DecodedEvent>| event.map(|event| event.log.block);
        let has_several_blocks = block(events.first()) != block(events.last());
        let too_slow = || match events.first() {
            Some(event) if !has_several_blocks => {
                IndexError::BlockTooSlow { block: event.log.block, events: events.len(), limit: time }
            }
            _ => IndexError::TooSlow,
        };
        let undo_block = |event: &DecodedEvent| if batch.is_final { NO_UNDO } else { to_i64(event.log.block) };
        let (mut emitted, mut applied) = (Vec::new(), 0);
        for part in events.chunks(call_events.max(1)) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(too_slow());
            }
            let undo_blocks = part.iter().map(undo_block).collect();
            let part_transaction =
                EventBatchTransaction::new(transaction, &self.store, undo_blocks, &self.plugin.handle.tasks);
            let limit = match part {
                [_] if events.len() == 1 => EVENT_TIMEOUT,
                [_] => EVENT_TIMEOUT.min(left),
                _ => left,
            };
            let applied_part = self.call_plugin(&part_transaction, part, limit).await;
            if transaction.has_conflict() {
                return Err(StorageError::Conflict("the batch conflicted with another transaction".to_owned()).into());
            }
            match (part, applied_part) {
                (_, Ok(())) => {}
                (_, Err(ApplyError::Starved)) => return Err(IndexError::Starved),
                // The time of the transaction ended before that of the event.
                ([_], Err(ApplyError::Timeout(_))) if limit < EVENT_TIMEOUT => return Err(too_slow()),
                ([event], Err(error)) => return Err(self.event_failed(event, error)),
                (_, Err(ApplyError::Timeout(_))) if has_several_blocks => return Err(IndexError::TooSlow),
                (_, Err(error)) => return Err(IndexError::Handler(error.to_string())),
            }
            let part_emitted = part_transaction.finish().map_err(IndexError::Handler)?;
            emitted.extend(part_emitted.into_iter().map(|(index, event)| (applied + index, event)));
            applied += part.len();
        }
        if !events.is_empty() {
            transaction.defer_as_host(self.store.forbid_writes())?;
        }
        Ok(self.with_unique_keys(events, emitted))
    }

    async fn call_plugin(
        &self,
        transaction: &Arc<EventBatchTransaction>,
        events: &[DecodedEvent],
        limit: Duration,
    ) -> Result<(), ApplyError> {
        let fault = |message: String| {
            ApplyError::Fault(Fault { kind: FaultKind::Error, message: message.into(), location: Default::default() })
        };
        let events = events.iter().map(DecodedEvent::to_abi).collect();
        let (sources, handle) = (self.subscriptions.sources(), transaction.handle());
        let object = &self.plugin.object;
        let call =
            self.plugin.call(self.plugin.operations.chain_events, || object.chain_events(sources, events, handle));
        let applied = async {
            match call.await {
                Ok(RResult::ROk(())) => transaction.flush().await.map_err(|error| fault(error.to_string())),
                Ok(RResult::RErr(error)) => Err(ApplyError::Fault(error)),
                Err(GateClosed) => Err(ApplyError::Fenced),
            }
        };
        let started = ProcessInstant::now();
        tokio::time::timeout(limit, applied).await.unwrap_or_else(|_elapsed| {
            Err(if started.was_starved(limit) { ApplyError::Starved } else { ApplyError::Timeout(limit) })
        })
    }

    /// Counts the failure against the plugin, and returns an error that names the event.
    fn event_failed(&self, decoded: &DecodedEvent, error: ApplyError) -> IndexError {
        let event = self.subscriptions.event_name(decoded.source);
        let call = format!("chain event {event}");
        if !self.transactions.database.was_unavailable_within(UNAVAILABLE_WINDOW) {
            match &error {
                ApplyError::Fault(fault) => self.plugin.handle.fault(&call, fault),
                ApplyError::Timeout(limit) => self.plugin.handle.timed_out(&call, *limit),
                ApplyError::Starved | ApplyError::Fenced => {}
            }
        }
        let at = format!("the event {event} in block {} (transaction {})", decoded.log.block, decoded.log.tx);
        IndexError::Handler(format!("{at}: {error}"))
    }

    fn with_unique_keys(&self, events: &[DecodedEvent], emitted: Vec<(usize, CheckedEvent)>) -> Vec<EmittedEvent> {
        let owner = match self.chain.name.as_str() {
            MAIN => self.plugin.name().to_owned(),
            chain => format!("{}@{chain}", self.plugin.name()),
        };
        let mut keys = UniqueKeys::new(owner, &self.subscriptions);
        let add_key = |(index, event): (usize, CheckedEvent)| {
            let decoded = events.get(index)?;
            let (block, log_index) = decoded.log_position();
            Some(EmittedEvent { block, log_index, event: keys.assign(decoded, event) })
        };
        emitted.into_iter().filter_map(add_key).collect()
    }
}

/// Why the plugin did not apply the events of a call.
#[derive(Debug, thiserror::Error)]
enum ApplyError {
    #[error("{}", .0.message)]
    Fault(Fault),
    #[error("not applied within {0:?}")]
    Timeout(Duration),
    #[error("the process got no processor time")]
    Starved,
    #[error("the plugin is fenced")]
    Fenced,
}
