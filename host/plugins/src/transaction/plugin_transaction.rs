//! The transaction that a plugin gets through the ABI.
//!
//! The rule: rows, activity events and, on a signed route, the replay guard and the per-address interval commit together
//! or not at all, and before the client gets a 2xx.

use super::{
    charge::{ChargeOutcome, RequestCharge},
    commit_error::CommitError,
    conflicts,
    context::TransactionContext,
    lost_commit::{self, CommitMark, CommitOutcome},
    write_admission::WritePermit,
    write_guard::SignedWriteRecord,
};
use crate::{
    bounds::EVENTS_PER_TRANSACTION_MAX,
    capabilities::{log_subscription, queue},
    plugin::CHAIN_EVENTS,
};
use gateway_activity::CheckedEvent;
use gateway_jobs::RunLease;
use gateway_storage::{CommitStatement, Dialect, Isolation, Scope, StorageError, Transaction as StorageTransaction};
use parking_lot::Mutex;
use plugin_api::{
    abi::{CapabilityResponse, FfiBytes, HostError, HostErrorCode, NewEvent, Statement, StatementResult},
    host::decode_call,
    manifest::{Manifest, QueueCall},
};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};
use uuid::Uuid;

pub struct PluginTransaction {
    inner: StorageTransaction,
    events: Mutex<Vec<CheckedEvent>>,
    pub(crate) context: Arc<TransactionContext>,
    mode: CommitMode,
    /// Stored with the write, to find out what became of it.
    attempt: String,
    /// Among the writes of the plugin, where they may conflict.
    permit: OnceLock<WritePermit>,
    /// What the plugin declares: the events that it publishes, the signer roles and chains that it may send transactions with.
    /// `None` for a transaction of the gateway.
    pub(crate) manifest: Option<Arc<Manifest>>,
    has_intents: AtomicBool,
    /// Queues that it pushed to.
    pushed: Mutex<BTreeSet<String>>,
    /// The plugin called `commit`: what becomes of a request that ends before its result is known is unknown.
    has_commit_begun: AtomicBool,
    /// How the plugin's `commit` ended.
    commit_result: OnceLock<Result<(), CommitError>>,
    /// Of a signed write with a price.
    pub(crate) charge: Option<Arc<RequestCharge>>,
    /// Of the run of a job that writes: without it nothing is committed.
    lease: Option<Arc<RunLease>>,
}

/// Who commits the transaction.
#[derive(Clone, Debug)]
pub enum CommitMode {
    /// The gateway, after the handler's response, with the guard of a signed route.
    Request(Option<Arc<SignedWriteRecord>>),
    /// The plugin, by `commit`, as the one write of a request: with the guard of a signed route.
    Write(Option<Arc<SignedWriteRecord>>),
    /// The plugin, by `commit`, as one attempt of a write of a job, a task or a service: it may run again. Or the gateway, with what a service
    /// has written.
    Attempt,
    /// The plugin, by `commit`.
    Plugin,
    /// The index, after the last event of a batch.
    Index,
}

impl PluginTransaction {
    pub fn new(context: &Arc<TransactionContext>, scope: Scope, mode: CommitMode) -> Arc<Self> {
        Self::build(context, scope, mode, None, None)
    }

    /// As [`Self::new`], with what the plugin declares.
    pub fn of_plugin(
        context: &Arc<TransactionContext>,
        scope: Scope,
        mode: CommitMode,
        manifest: &Arc<Manifest>,
    ) -> Arc<Self> {
        Self::build(context, scope, mode, Some(manifest.clone()), None)
    }

    /// As [`Self::of_plugin`], of a signed write with a price.
    pub fn with_charge(
        context: &Arc<TransactionContext>,
        scope: Scope,
        mode: CommitMode,
        manifest: &Arc<Manifest>,
        charge: Arc<RequestCharge>,
    ) -> Arc<Self> {
        charge.set(ChargeOutcome::NotCharged);
        Self::build(context, scope, mode, Some(manifest.clone()), Some(charge))
    }

    fn build(
        context: &Arc<TransactionContext>,
        scope: Scope,
        mode: CommitMode,
        manifest: Option<Arc<Manifest>>,
        charge: Option<Arc<RequestCharge>>,
    ) -> Arc<Self> {
        let inner = context.database.begin(scope);
        let attempt = Uuid::now_v7().simple().to_string();
        if let CommitMode::Write(Some(guard)) = &mode {
            inner.require(guard.statements(context.database.dialect(), &attempt));
        }
        Arc::new(Self {
            inner,
            events: Mutex::default(),
            context: context.clone(),
            mode,
            attempt,
            permit: OnceLock::new(),
            manifest,
            has_intents: AtomicBool::new(false),
            pushed: Mutex::default(),
            has_commit_begun: AtomicBool::new(false),
            commit_result: OnceLock::new(),
            charge,
            lease: RunLease::current(),
        })
    }

    /// Before its first statement. Where transactions run one after the other anyway, it needs no permit.
    pub fn set_permit(&self, permit: impl FnOnce() -> WritePermit) {
        let may_conflict = matches!(self.inner.scope(), Scope::Plugin { isolation: Isolation::Serializable, .. });
        if may_conflict && self.context.database.dialect() == Dialect::Postgres {
            let _ = self.permit.set(permit());
        }
    }

    async fn acquire_permit(&self) {
        if let Some(permit) = self.permit.get() {
            permit.acquire().await;
        }
    }

    /// What a signed write uses up when it commits.
    fn guard(&self) -> Option<&SignedWriteRecord> {
        match &self.mode {
            CommitMode::Request(guard) | CommitMode::Write(guard) => guard.as_deref(),
            CommitMode::Attempt | CommitMode::Plugin | CommitMode::Index => None,
        }
    }

    /// Commits the writes and events, if there are any, and the guard of a signed write.
    pub async fn finish(&self) -> Result<(), CommitError> {
        self.acquire_permit().await;
        let result = self.finish_with_permit().await;
        if let Some(permit) = self.permit.get() {
            permit.release().await;
        }
        result
    }

    async fn finish_with_permit(&self) -> Result<(), CommitError> {
        let (guard, events) = (self.guard(), std::mem::take(&mut *self.events.lock()));
        if guard.is_none() && events.is_empty() && !self.inner.has_begun() {
            return Ok(());
        }
        let has_events = !events.is_empty();
        // Where the request's one write commits itself, it has opened with them.
        let last_guard = guard.filter(|_| !matches!(self.mode, CommitMode::Write(_)));
        let dialect = self.context.database.dialect();
        let mut finals: Vec<CommitStatement> =
            last_guard.map(|guard| guard.statements(dialect, &self.attempt)).unwrap_or_default();
        finals.extend(self.context.activity.commit_statements(events, self.context.clock.now_s()));
        let mut mark = guard.map(CommitMark::Guard);
        if has_events || self.inner.has_written() {
            finals.extend(self.change_statement());
            if dialect == Dialect::Postgres {
                let mark = *mark.get_or_insert_with(|| CommitMark::row(self.context.clock.now_s()));
                finals.extend(mark.leave(&self.attempt));
            }
        }
        let lease_check = finals.len();
        finals.extend(self.lease.as_ref().map(|lease| lease.check()));
        match self.inner.commit(finals).await {
            Ok(_) => {}
            Err(StorageError::Rejected(index)) if index == lease_check && self.lease.is_some() => {
                return Err(CommitError::of_lost_lease());
            }
            Err(StorageError::Rejected(index)) => return Err(CommitError::of_guard(index)),
            Err(error @ StorageError::Unavailable(_)) => self.survive_lost_commit(mark, error).await?,
            // An earlier statement may have been refused for the guard, which ended the transaction.
            Err(error) => {
                return Err(self
                    .inner
                    .failed_precondition()
                    .map_or(CommitError::Storage(error), CommitError::of_guard));
            }
        }
        if has_events {
            self.context.activity.notify_written();
        }
        if self.has_intents.load(Relaxed) {
            self.context.journal.wake();
        }
        self.pushed.lock().iter().for_each(|table| self.context.queues.wake(table));
        Ok(())
    }

    /// Whether the write was committed although the server did not say so.
    async fn survive_lost_commit(&self, mark: Option<CommitMark<'_>>, error: StorageError) -> Result<(), CommitError> {
        let Some(mark) = mark.filter(|_| self.inner.has_unknown_outcome()) else {
            return Err(CommitError::Storage(error));
        };
        match lost_commit::find_out(&self.context.database, mark, &self.attempt).await {
            Some(CommitOutcome::Committed) => Ok(()),
            Some(CommitOutcome::Replayed) => Err(CommitError::Replay),
            Some(CommitOutcome::NotCommitted) | None => Err(CommitError::Storage(error)),
        }
    }

    pub fn has_commit_begun(&self) -> bool {
        self.has_commit_begun.load(Relaxed)
    }

    /// How the plugin's `commit` ended, if it called it and that is over. A write whose guard was refused earlier has failed,
    /// whether its plugin calls it or not.
    pub fn commit_result(&self) -> Option<&Result<(), CommitError>> {
        if let Some(index) = self.inner.failed_precondition() {
            let _ = self.commit_result.set(Err(CommitError::of_guard(index)));
        }
        self.commit_result.get()
    }

    /// Why the guard, which may run with any statement, refused the transaction.
    fn guard_error(&self) -> Option<HostError> {
        self.inner.failed_precondition().map(|index| CommitError::of_guard(index).into())
    }

    fn statement_error(&self, error: StorageError) -> HostError {
        self.guard_error().unwrap_or_else(|| error.into())
    }

    /// Commits what an index has derived, with these last statements. It has neither events nor a guard, and needs no mark: its cursor
    /// shows whether it took effect.
    pub async fn commit_index(&self, last: Vec<CommitStatement>) -> Result<(), StorageError> {
        let last = last.into_iter().chain(self.change_statement()).collect();
        self.inner.commit(last).await.map(drop)
    }

    /// Tells other gateways that what they have cached of the plugin's data is old.
    fn change_statement(&self) -> Option<CommitStatement> {
        if self.inner.has_other_owners() {
            return self.context.database.change_statement_of_all();
        }
        self.context.database.change_statement(self.inner.scope().plugin_name()?)
    }

    pub async fn roll_back(&self) {
        self.events.lock().clear();
        if self.inner.has_begun() {
            self.inner.rollback().await;
        }
    }

    /// Commits for the plugin, where the plugin may.
    pub(crate) async fn commit(&self) -> Result<(), HostError> {
        match &self.mode {
            CommitMode::Write(_) | CommitMode::Attempt | CommitMode::Plugin => {}
            CommitMode::Request(_) => {
                return Err(refused("the gateway commits a request's own transaction after the handler's answer"));
            }
            CommitMode::Index => {
                return Err(refused("the gateway commits the transaction of chain events after the last of them"));
            }
        }
        // Whoever goes on without the payment gives away what has a price, and the client would be told that it has to pay.
        if self.charge.as_ref().is_some_and(|charge| charge.is_refused()) {
            self.roll_back().await;
            return Err(refused(
                "its payment was refused, so the write is not committed: return the error of `charge`",
            ));
        }
        self.has_commit_begun.store(true, Relaxed);
        let result = self.finish().await;
        let _ = self.commit_result.set(result.clone());
        result.map_err(HostError::from)
    }

    /// Runs statements of the plugin whose transaction it is.
    pub(crate) async fn run(&self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, HostError> {
        self.acquire_permit().await;
        self.inner.run(statements).await.map_err(|error| self.statement_error(error))
    }

    /// As [`Self::run`], for the provider of a service, in its scope.
    pub(crate) async fn run_for(
        &self,
        scope: &Scope,
        statements: Vec<Statement>,
    ) -> Result<Vec<StatementResult>, HostError> {
        self.acquire_permit().await;
        self.inner.run_for(scope, statements).await.map_err(|error| self.statement_error(error))
    }

    /// Queues a statement of the plugin: see [`StorageTransaction::defer`].
    pub fn defer(&self, statement: Statement) -> Result<(), StorageError> {
        self.inner.defer(statement)
    }

    /// As [`Self::defer`], for the provider of a service, in its scope.
    pub(crate) fn defer_for(&self, scope: &Scope, statement: Statement) -> Result<(), StorageError> {
        self.inner.defer_for(scope, statement)
    }

    /// Whether another transaction was in its way: everything is rolled back, and the same may succeed in a new one.
    pub fn has_conflict(&self) -> bool {
        self.inner.has_conflict()
    }

    /// Whether its guard has refused it.
    pub(crate) fn is_refused(&self) -> bool {
        self.inner.failed_precondition().is_some()
    }

    pub(crate) fn plugin_name(&self) -> &str {
        self.inner.scope().plugin_name().unwrap_or_default()
    }

    /// Calls a capability within this transaction.
    pub(crate) async fn call(&self, capability: &str, request: &[u8]) -> Result<CapabilityResponse, HostError> {
        self.acquire_permit().await;
        let called = match capability {
            "tx" => self.record_intent(request).await,
            "log_done" => self.mark_log_done(request).await,
            "queue" => self.call_queue(request).await,
            other => {
                let message = format!("there is no capability `{other}` in this transaction");
                Err(HostError::new(HostErrorCode::Refused, message))
            }
        };
        called.map_err(|error| self.guard_error().unwrap_or(error))
    }

    async fn mark_log_done(&self, request: &[u8]) -> Result<CapabilityResponse, HostError> {
        let call = decode_call("a place in the log", request)?;
        let plugin = self.plugin_name();
        log_subscription::mark_done(plugin, call, |statements| self.run_as_host(statements)).await?;
        Ok(CapabilityResponse { response: FfiBytes::default(), body: FfiBytes::default() })
    }

    async fn call_queue(&self, request: &[u8]) -> Result<CapabilityResponse, HostError> {
        let queues = self.manifest.as_ref().map(|manifest| &*manifest.queues).unwrap_or_default();
        let call = queue::parse(queues, request)?;
        if let QueueCall::Push { table, .. } = &call {
            self.pushed.lock().insert(table.clone());
        }
        let now_ms = self.context.clock.now_ms();
        let response = queue::call(call, now_ms, |statements| self.inner.run(statements)).await?;
        Ok(CapabilityResponse { response, body: FfiBytes::default() })
    }

    async fn record_intent(&self, request: &[u8]) -> Result<CapabilityResponse, HostError> {
        let plugin = self.plugin_name();
        let grants = self.manifest.as_ref().map(|manifest| &manifest.grants);
        let granted = grants.map_or((&[][..], &[][..]), |grants| (&*grants.signer_roles, &*grants.chains));
        let run = |statements| self.run_as_host(statements);
        let id = self.context.journal.record(plugin, granted, request, run).await?;
        self.has_intents.store(true, Relaxed);
        Ok(CapabilityResponse { response: id.to_string().into_bytes().into(), body: FfiBytes::default() })
    }

    /// Readers of the log take an event for what its type says: a plugin publishes only types that it declares.
    pub fn check_declared(&self, kind: &str) -> Result<(), HostError> {
        Self::check_declared_by(self.manifest.as_deref(), kind)
    }

    fn check_declared_by(manifest: Option<&Manifest>, kind: &str) -> Result<(), HostError> {
        let Some(manifest) = manifest else { return Ok(()) };
        if manifest.event_types.iter().any(|declared| declared == kind) {
            return Ok(());
        }
        let message = format!("the plugin does not declare that it publishes {kind:?}");
        Err(HostError::new(HostErrorCode::Refused, message))
    }

    pub(crate) fn publish(&self, event: NewEvent) -> Result<(), HostError> {
        self.publish_for(self.manifest.as_deref(), event)
    }

    /// Publishes an event that this manifest must declare.
    pub(crate) fn publish_for(&self, manifest: Option<&Manifest>, event: NewEvent) -> Result<(), HostError> {
        let event = CheckedEvent::check(event)?;
        Self::check_declared_by(manifest, &event.as_event().kind)?;
        let mut events = self.events.lock();
        if events.len() >= EVENTS_PER_TRANSACTION_MAX {
            let text = format!("more than {EVENTS_PER_TRANSACTION_MAX} events in a transaction");
            return Err(HostError::new(HostErrorCode::Invalid, text));
        }
        events.push(event);
        Ok(())
    }
}

/// Where it may conflict, how it ended counts.
impl Drop for PluginTransaction {
    fn drop(&mut self) {
        let has_conflict = self.inner.has_conflict();
        if let Some(permit) = self.permit.get() {
            if has_conflict {
                permit.count_conflict(self.plugin_name());
            }
            if matches!(self.mode, CommitMode::Attempt) {
                permit.note_job(has_conflict);
            }
        } else if has_conflict && matches!(self.mode, CommitMode::Index) {
            conflicts::count(self.plugin_name(), CHAIN_EVENTS);
        }
    }
}

/// For the index, whose transactions hold no permit, and for what the gateway itself does in a plugin's.
impl PluginTransaction {
    /// Runs the deferred statements, then these, in the scope of the plugin.
    pub async fn run_derived(&self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, StorageError> {
        self.inner.run(statements).await
    }

    /// As [`Self::run_derived`], the gateway's own.
    pub async fn run_as_host(&self, statements: Vec<Statement>) -> Result<Vec<StatementResult>, StorageError> {
        self.inner.run_as_host(statements).await
    }

    pub fn defer_as_host(&self, statement: Statement) -> Result<(), StorageError> {
        self.inner.defer_as_host(statement)
    }

    pub fn deferred_count(&self) -> usize {
        self.inner.deferred_count()
    }
}

fn refused(message: &str) -> HostError {
    HostError::new(HostErrorCode::Refused, message)
}
