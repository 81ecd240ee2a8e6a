//! A transaction in a plugin's hands.
//!
//! The rule: rows, activity events and, on a signed route, the replay guard and the per-address interval commit together
//! or not at all; who was answered 2xx is durable.

use crate::HostContext;
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};
use gateway_storage::{CommitStatement, Scope, StorageError, Transaction as StorageTransaction};
use parking_lot::Mutex;
use plugin_api::{
    abi::{
        FfiBytes, HostError, HostErrorCode, Outcome, Reply, Statement, Transaction as AbiTransaction, Transaction_TO,
        TransactionBox,
    },
    manifest::{Grants, NewEvent},
    sql,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Events of one transaction; more is a plugin gone wild.
const EVENTS_MAX: usize = 1000;

pub struct PluginTransaction {
    inner: StorageTransaction,
    events: Mutex<Vec<NewEvent>>,
    host: Arc<HostContext>,
    owner: Owner,
    /// What the plugin may send with, and where.
    grants: Grants,
    has_intents: AtomicBool,
}

/// Who ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The gateway, after the handler's answer.
    Request,
    /// The plugin, by `commit`.
    Plugin,
    /// The index, after the last event of a batch.
    Index,
}

/// What a signed write uses up.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Checksummed address.
    pub signer: String,
    /// Hex of what was signed.
    pub digest: String,
    pub now_ms: i64,
    pub interval_ms: i64,
    /// Until when the signature could be sent again, were it not remembered.
    pub remember_until_s: i64,
}

/// Why a transaction did not commit.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error("this signature was already used")]
    Replay,
    #[error("one write per address and interval")]
    TooSoon,
    #[error(transparent)]
    Event(HostError),
    #[error(transparent)]
    Storage(StorageError),
}

pub const GUARD_MIGRATION: &str = "
CREATE TABLE host_replay_guard (
    address TEXT NOT NULL,
    digest TEXT NOT NULL,
    remember_until_s BIGINT NOT NULL,
    PRIMARY KEY (address, digest)
);
CREATE INDEX host_replay_guard_age ON host_replay_guard (remember_until_s);
CREATE TABLE host_write_slots (address TEXT NOT NULL PRIMARY KEY, last_ms BIGINT NOT NULL);
";

impl PluginTransaction {
    pub fn new(host: &Arc<HostContext>, scope: Scope, owner: Owner) -> Arc<Self> {
        Self::granting(host, scope, owner, Grants::default())
    }

    /// As [`Self::new`], for a plugin that may send with these keys on these chains.
    pub fn granting(host: &Arc<HostContext>, scope: Scope, owner: Owner, grants: Grants) -> Arc<Self> {
        let inner = host.database.begin(scope);
        let (events, has_intents) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self { inner, events, host: host.clone(), owner, grants, has_intents })
    }

    pub fn handle(self: &Arc<Self>) -> TransactionBox {
        Transaction_TO::from_value(Handle(self.clone()), TD_Opaque)
    }

    /// Commits what was done, if anything was, and the guard of a signed write.
    pub async fn finish(&self, guard: Option<&Guard>) -> Result<(), CommitError> {
        let events = std::mem::take(&mut *self.events.lock());
        if guard.is_none() && events.is_empty() && !self.inner.has_begun() {
            return Ok(());
        }
        // Replay before interval: who repeats a write that succeeded shall hear just that.
        let mut finals: Vec<CommitStatement> = guard.map(guard_statements).unwrap_or_default();
        finals.extend(
            self.host.activity.commit_statements(&events, self.host.clock.now_s()).map_err(CommitError::Event)?,
        );
        let committed = self.inner.commit(finals).await;
        match committed {
            Ok(_) => {}
            Err(StorageError::Rejected(0)) if guard.is_some() => return Err(CommitError::Replay),
            Err(StorageError::Rejected(_)) => return Err(CommitError::TooSoon),
            Err(error) => return Err(CommitError::Storage(error)),
        }
        if !events.is_empty() {
            self.host.activity.wake();
        }
        if self.has_intents.load(Relaxed) {
            self.host.journal.wake();
        }
        Ok(())
    }

    /// Runs the plugin's statements in it, after what was deferred.
    pub async fn run(&self, statements: Vec<Statement>) -> Result<Vec<Outcome>, StorageError> {
        self.inner.run(statements).await
    }

    pub fn defer(&self, statement: Statement) -> Result<(), StorageError> {
        self.inner.defer(statement)
    }

    /// As [`Self::defer`], for the gateway's own statements.
    pub fn defer_as_host(&self, statement: Statement) -> Result<(), StorageError> {
        self.inner.defer_as_host(statement)
    }

    /// How many statements are deferred.
    pub fn deferred_count(&self) -> usize {
        self.inner.deferred_count()
    }

    /// Runs the gateway's own statements in it.
    pub async fn run_as_host(&self, statements: Vec<Statement>) -> Result<Vec<Outcome>, StorageError> {
        self.inner.run_as_host(statements).await
    }

    /// Commits with these last statements.
    pub async fn commit_with(&self, last: Vec<CommitStatement>) -> Result<(), StorageError> {
        self.inner.commit(last).await.map(drop)
    }

    pub async fn roll_back(&self) {
        self.events.lock().clear();
        if self.inner.has_begun() {
            self.inner.rollback().await;
        }
    }

    /// What a capability does within this transaction.
    async fn ask(&self, capability: &str, question: &[u8]) -> Result<Reply, HostError> {
        if capability != "tx" {
            let message = format!("there is no capability `{capability}` in this transaction");
            return Err(HostError::new(HostErrorCode::Refused, message));
        }
        let plugin = self.inner.scope().plugin_name().unwrap_or_default();
        let granted = (&*self.grants.signer_roles, &*self.grants.chains);
        let run = |statements| self.inner.run_as_host(statements);
        let id = self.host.journal.record(plugin, granted, question, run).await?;
        self.has_intents.store(true, Relaxed);
        Ok(Reply { answer: id.to_string().into_bytes().into(), body: FfiBytes::default() })
    }

    fn publish(&self, event: &[u8]) -> Result<(), HostError> {
        let event = read_event(event)?;
        let mut events = self.events.lock();
        if events.len() >= EVENTS_MAX {
            return Err(HostError::new(
                HostErrorCode::Invalid,
                format!("more than {EVENTS_MAX} events in a transaction"),
            ));
        }
        events.push(event);
        Ok(())
    }
}

/// What a plugin publishes, checked.
pub fn read_event(event: &[u8]) -> Result<NewEvent, HostError> {
    let event: NewEvent = serde_json::from_slice(event)
        .map_err(|error| HostError::new(HostErrorCode::Invalid, format!("not an event: {error}")))?;
    gateway_activity::check(&event)?;
    Ok(event)
}

fn guard_statements(guard: &Guard) -> Vec<CommitStatement> {
    let replay = sql("INSERT INTO host_replay_guard (address, digest, remember_until_s) VALUES ($1, $2, $3) \
         ON CONFLICT (address, digest) DO NOTHING RETURNING 1")
    .bind(guard.signer.as_str())
    .bind(guard.digest.as_str())
    .bind(guard.remember_until_s);
    let mut finals = vec![CommitStatement::expecting_row(replay.into())];
    if guard.interval_ms > 0 {
        // A slot in the future comes from a clock that was wrong: it must not lock the address out.
        let slot = sql(
            "INSERT INTO host_write_slots (address, last_ms) VALUES ($1, $2) \
             ON CONFLICT (address) DO UPDATE SET last_ms = excluded.last_ms \
             WHERE host_write_slots.last_ms <= excluded.last_ms - $3 OR host_write_slots.last_ms > excluded.last_ms + $3 \
             RETURNING 1",
        )
        .bind(guard.signer.as_str())
        .bind(guard.now_ms)
        .bind(guard.interval_ms);
        finals.push(CommitStatement::expecting_row(slot.into()));
    }
    finals
}

struct Handle(Arc<PluginTransaction>);

impl AbiTransaction for Handle {
    fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<Outcome>, HostError>> {
        let transaction = self.0.clone();
        async move {
            let outcomes = transaction.run(statements.into_vec()).await;
            outcomes.map(RVec::from).map_err(HostError::from).into()
        }
        .into_ffi()
    }

    fn defer(&self, statement: Statement) -> RResult<(), HostError> {
        self.0.defer(statement).map_err(HostError::from).into()
    }

    /// Only the index has chain events; see `chain/index/feed.rs`.
    fn begin_event(&self, _: u32) {}

    fn publish(&self, event: FfiBytes) -> RResult<(), HostError> {
        self.0.publish(&event).into()
    }

    fn ask(&self, capability: RString, question: FfiBytes) -> FfiFuture<RResult<Reply, HostError>> {
        let transaction = self.0.clone();
        async move { transaction.ask(&capability, &question).await.into() }.into_ffi()
    }

    fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
        let transaction = self.0.clone();
        async move {
            let reserved = match transaction.owner {
                Owner::Request => Some("the gateway commits a request's own transaction after the handler's answer"),
                Owner::Index => Some("the gateway commits the transaction of chain events after the last of them"),
                Owner::Plugin => None,
            };
            if let Some(message) = reserved {
                return RResult::RErr(HostError::new(HostErrorCode::Refused, message));
            }
            transaction.finish(None).await.map_err(host_error).into()
        }
        .into_ffi()
    }
}

fn host_error(error: CommitError) -> HostError {
    match error {
        CommitError::Storage(error) => error.into(),
        CommitError::Event(error) => error,
        CommitError::Replay | CommitError::TooSoon => HostError::new(HostErrorCode::Constraint, error.to_string()),
    }
}
