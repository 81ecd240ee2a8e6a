//! What the simulated server has: committed rows, open transactions, snapshots and locks. Nothing here waits.
//!
//! The rule: outside of a method the committed rows are those of `version`, with at most one open transaction's statements applied on top,
//! in an SQLite transaction that is rolled back before anything else happens.

use super::{
    counts::SimulationCounts,
    faults::Faults,
    functions::Draws,
    open_transaction::{ClientId, Executed, IsolationLevel, OpenTransaction, Request, TransactionId},
    random::Random,
    store::{Outcome, RowStore, StatementFailure},
    translate::{self, Effect, Translated, Work},
};
use crate::{
    check::StatementInfo,
    error::{IDLE_TOO_LONG, StorageError},
};
use plugin_api::abi::Value;
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Debug,
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

pub(super) struct ServerState {
    main: RowStore,
    /// Whose statements are applied to [`Self::main`].
    active: Option<TransactionId>,
    /// Counts the commits.
    version: u64,
    /// The version that the last serialisable commit made.
    serializable_version: u64,
    open: BTreeMap<TransactionId, OpenTransaction>,
    last_id: TransactionId,
    last_client: ClientId,
    /// The rows of earlier versions, which open transactions read.
    snapshots: BTreeMap<u64, Snapshot>,
    advisory_locks: HashMap<String, TransactionId>,
    translations: HashMap<String, Arc<Translated>>,
    altered: Vec<(&'static str, &'static str)>,
    pub faults: Faults,
    pub random: Random,
    pub counts: SimulationCounts,
    pub is_away: bool,
    trace: u64,
}

struct Snapshot {
    store: RowStore,
    active: Option<TransactionId>,
}

pub(super) enum StatementAttempt {
    Done(Outcome),
    /// This one has to end first.
    Blocked(TransactionId),
    Failed(StatementFailure),
}

/// Why statements that ran again are not what they were.
struct Difference;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

impl ServerState {
    pub(super) fn new(seed: u64) -> Result<Self, StorageError> {
        let main = RowStore::open(&Draws::new(seed))?;
        Ok(Self {
            main,
            active: None,
            version: 0,
            serializable_version: 0,
            open: BTreeMap::new(),
            last_id: 0,
            last_client: 0,
            snapshots: BTreeMap::new(),
            advisory_locks: HashMap::new(),
            translations: HashMap::new(),
            altered: Vec::new(),
            faults: Faults::default(),
            random: Random::new(!seed),
            counts: SimulationCounts::default(),
            is_away: false,
            trace: FNV_OFFSET,
        })
    }

    pub(super) fn translate(&mut self, sql: &str, info: &StatementInfo) -> Result<Arc<Translated>, StorageError> {
        if let Some(known) = self.translations.get(sql) {
            return Ok(Arc::clone(known));
        }
        let altered = self.altered.iter().fold(sql.to_owned(), |sql, (part, other)| sql.replace(part, other));
        let translated = Arc::new(translate::translate(&altered, info)?);
        self.translations.insert(sql.to_owned(), Arc::clone(&translated));
        Ok(translated)
    }

    pub(super) fn alter_statements(&mut self, parts: &[(&'static str, &'static str)]) {
        parts.clone_into(&mut self.altered);
        self.translations.clear();
    }

    pub(super) fn trace(&self) -> u64 {
        self.trace
    }

    pub(super) fn note(&mut self, what: &impl Debug) {
        for byte in format!("{what:?}").bytes() {
            self.trace = (self.trace ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }

    pub(super) fn connect(&mut self) -> ClientId {
        self.last_client += 1;
        self.last_client
    }

    pub(super) fn client_count(&self) -> ClientId {
        self.last_client
    }

    pub(super) fn begin(&mut self, client: ClientId, isolation: IsolationLevel, now: Instant) -> TransactionId {
        self.last_id += 1;
        self.open.insert(self.last_id, OpenTransaction::new(client, isolation, now));
        self.last_id
    }

    pub(super) fn open(&mut self, id: TransactionId) -> Option<&mut OpenTransaction> {
        self.open.get_mut(&id)
    }

    /// One statement that reads, on what is committed.
    pub(super) fn read(
        &mut self,
        statement: &Translated,
        params: &[Value],
        now_ms: i64,
    ) -> Result<Outcome, StatementFailure> {
        self.deactivate()?;
        let (outcome, _) = self.main.run(statement, params, now_ms);
        outcome
    }

    /// Runs `work` on what is committed, as a commit.
    pub(super) fn commit_outside<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.deactivate()?;
        self.keep_snapshot(0)?;
        let done = work(&self.main.connection)?;
        self.version += 1;
        Ok(done)
    }

    pub(super) fn look<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.deactivate()?;
        work(&self.main.connection)
    }

    /// The holder, if it is another one.
    pub(super) fn take_lock(&mut self, id: TransactionId, key: &str) -> Option<TransactionId> {
        let holder = *self.advisory_locks.entry(key.to_owned()).or_insert(id);
        (holder != id).then_some(holder)
    }

    pub(super) fn run(&mut self, id: TransactionId, request: Request, now_ms: i64) -> StatementAttempt {
        if let Work::Lock(key) = &request.statement.work
            && let Some(holder) = self.take_lock(id, key)
        {
            return StatementAttempt::Blocked(holder);
        }
        let attempt = self.try_run(id, request, now_ms);
        attempt.unwrap_or_else(|error| StatementAttempt::Failed(StatementFailure::Other(error)))
    }

    fn try_run(&mut self, id: TransactionId, request: Request, now_ms: i64) -> Result<StatementAttempt, StorageError> {
        let version = self.version;
        let Some(open) = self.open.get_mut(&id) else { return Err(StorageError::Expired(IDLE_TOO_LONG)) };
        open.base.get_or_insert(version);
        let is_serializable = open.is_serializable();
        let store = if is_serializable { self.activate_snapshot(id)? } else { self.activate(id)? };
        let (outcome, drawn) = store.run(&request.statement, &request.params, now_ms);
        if !is_serializable && request.statement.effect != Effect::Read {
            let rivals = self.rivals(id);
            let executed = (&request, &drawn, &outcome);
            if let Some(rival) = self.first_conflict(id, &rivals, executed)? {
                return Ok(StatementAttempt::Blocked(rival));
            }
        }
        Ok(match outcome {
            Ok(outcome) => {
                if let Some(open) = self.open.get_mut(&id) {
                    open.log.push(Executed { request, drawn, outcome: outcome.clone() });
                }
                StatementAttempt::Done(outcome)
            }
            Err(failure) => StatementAttempt::Failed(failure),
        })
    }

    /// Open transactions at READ COMMITTED whose results nobody may change.
    fn rivals(&self, id: TransactionId) -> Vec<TransactionId> {
        let is_rival = |(other, open): &(&TransactionId, &OpenTransaction)| {
            **other != id && !open.is_serializable() && open.effects().next().is_some()
        };
        self.open.iter().filter(is_rival).map(|(other, _)| *other).collect()
    }

    /// The first one that notices the statement, or that the statement notices. Leaves nothing applied if there is any to compare with.
    fn first_conflict(
        &mut self,
        id: TransactionId,
        rivals: &[TransactionId],
        (request, drawn, outcome): (&Request, &super::functions::DrawnValues, &Result<Outcome, StatementFailure>),
    ) -> Result<Option<TransactionId>, StorageError> {
        if rivals.is_empty() {
            return Ok(None);
        }
        let mut found = None;
        if outcome.is_ok() {
            found = self.first_disturbed(rivals)?;
        }
        for rival in rivals {
            if found.is_some() {
                break;
            }
            self.deactivate()?;
            self.main.batch("BEGIN")?;
            let before =
                replay(&self.main, self.effects_of(*rival)).and_then(|()| replay(&self.main, self.effects_of(id)));
            let is_same = before.is_ok()
                && self.main.run_again(&request.statement, &request.params, drawn).as_ref() == outcome.as_ref();
            self.main.batch("ROLLBACK")?;
            if !is_same {
                found = Some(*rival);
            }
        }
        self.deactivate()?;
        Ok(found)
    }

    /// The first one that would get other results after what is applied.
    fn first_disturbed(&self, rivals: &[TransactionId]) -> Result<Option<TransactionId>, StorageError> {
        for rival in rivals {
            self.main.batch("SAVEPOINT rival")?;
            let is_same = replay(&self.main, self.effects_of(*rival)).is_ok();
            self.main.batch("ROLLBACK TO rival; RELEASE rival")?;
            if !is_same {
                return Ok(Some(*rival));
            }
        }
        Ok(None)
    }

    fn effects_of(&self, id: TransactionId) -> impl Iterator<Item = &Executed> {
        self.open.get(&id).into_iter().flat_map(OpenTransaction::effects)
    }

    /// Ends it in any case. An error says that nothing was written.
    pub(super) fn commit(&mut self, id: TransactionId) -> Result<(), StorageError> {
        let committed = self.try_commit(id);
        self.end(id);
        committed
    }

    fn try_commit(&mut self, id: TransactionId) -> Result<(), StorageError> {
        let Some(open) = self.open.get(&id) else { return Err(StorageError::Expired(IDLE_TOO_LONG)) };
        let (is_serializable, base) = (open.is_serializable(), open.base.unwrap_or(self.version));
        if open.effects().next().is_none() {
            return Ok(());
        }
        if is_serializable && self.random.happens(self.faults.conflict) {
            self.counts.conflicts += 1;
            return Err(conflict());
        }
        self.keep_snapshot(id)?;
        if is_serializable && base != self.version {
            self.validate(id, base)?;
        } else {
            self.activate(id)?;
        }
        if is_serializable && self.first_disturbed(&self.rivals(id))?.is_some() {
            self.counts.conflicts += 1;
            return Err(conflict());
        }
        self.main.batch("COMMIT")?;
        self.active = None;
        self.version += 1;
        if is_serializable {
            self.serializable_version = self.version;
        }
        self.counts.commits += 1;
        Ok(())
    }

    /// Applies its statements to rows that are newer than its snapshot.
    fn validate(&mut self, id: TransactionId, base: u64) -> Result<(), StorageError> {
        self.deactivate()?;
        self.main.batch("BEGIN")?;
        self.active = Some(id);
        let may_read_old = self.serializable_version <= base;
        let Some(open) = self.open.get(&id) else { return Err(StorageError::Expired(IDLE_TOO_LONG)) };
        for executed in &open.log {
            let is_same = is_same_again(&self.main, executed);
            let may_differ = may_read_old && executed.effect() == Effect::Read;
            if !is_same && !may_differ {
                self.counts.conflicts += 1;
                return Err(conflict());
            }
        }
        Ok(())
    }

    /// Whoever has begun on the newest version goes on with it when there is a newer one.
    fn keep_snapshot(&mut self, committing: TransactionId) -> Result<(), StorageError> {
        let version = self.version;
        let is_read = self.open.iter().any(|(id, open)| *id != committing && open.reads_version(version));
        if is_read && !self.snapshots.contains_key(&version) {
            self.deactivate()?;
            self.snapshots.insert(version, Snapshot { store: self.main.copy()?, active: None });
        }
        Ok(())
    }

    /// Applies its statements to the newest rows.
    fn activate(&mut self, id: TransactionId) -> Result<&RowStore, StorageError> {
        if self.active != Some(id) {
            self.deactivate()?;
            self.main.batch("BEGIN")?;
            self.active = Some(id);
            if replay(&self.main, self.effects_of(id)).is_err() {
                self.counts.unexpected += 1;
                return Err(conflict());
            }
        }
        Ok(&self.main)
    }

    /// Applies its statements to the rows of its snapshot.
    fn activate_snapshot(&mut self, id: TransactionId) -> Result<&RowStore, StorageError> {
        let base = self.open.get(&id).and_then(|open| open.base);
        match base {
            Some(base) if base != self.version => {
                let missing = || StorageError::Internal("the snapshot of a transaction is gone".to_owned());
                let snapshot = self.snapshots.get_mut(&base).ok_or_else(missing)?;
                if snapshot.active != Some(id) {
                    snapshot.deactivate()?;
                    snapshot.store.batch("BEGIN")?;
                    snapshot.active = Some(id);
                    let effects = self.open.get(&id).into_iter().flat_map(OpenTransaction::effects);
                    if replay(&snapshot.store, effects).is_err() {
                        self.counts.unexpected += 1;
                        return Err(conflict());
                    }
                }
                Ok(&snapshot.store)
            }
            _ => self.activate(id),
        }
    }

    fn deactivate(&mut self) -> Result<(), StorageError> {
        if self.active.take().is_some() { self.main.batch("ROLLBACK") } else { Ok(()) }
    }

    /// Rolls back what is left of it, and lets others go on.
    pub(super) fn end(&mut self, id: TransactionId) {
        self.open.remove(&id);
        self.advisory_locks.retain(|_, holder| *holder != id);
        if self.active == Some(id)
            && let Err(error) = self.deactivate()
        {
            tracing::error!(%error, "the simulated server could not roll back");
        }
        let open = &self.open;
        self.snapshots.retain(|version, _| open.values().any(|open| open.reads_version(*version)));
        for snapshot in self.snapshots.values_mut().filter(|snapshot| snapshot.active == Some(id)) {
            if let Err(error) = snapshot.deactivate() {
                tracing::error!(%error, "the simulated server could not roll back");
            }
        }
    }

    /// Notes for whom it waits; `false` when that one waits for it.
    pub(super) fn wait_for(&mut self, id: TransactionId, holder: TransactionId) -> bool {
        self.counts.waits += 1;
        let mut next = Some(holder);
        while let Some(waiting) = next {
            if waiting == id {
                self.counts.conflicts += 1;
                return false;
            }
            next = self.open.get(&waiting).and_then(|open| open.waits_for);
        }
        if let Some(open) = self.open.get_mut(&id) {
            open.waits_for = Some(holder);
        }
        true
    }

    /// Ends those that keep the server waiting.
    pub(super) fn end_idle(&mut self, now: Instant, idle_max: Duration) {
        let is_over =
            |open: &OpenTransaction| open.idle_since.is_some_and(|since| now.duration_since(since) > idle_max);
        let over: Vec<_> = self.open.iter().filter(|(_, open)| is_over(open)).map(|(id, _)| *id).collect();
        over.into_iter().for_each(|id| self.end(id));
    }

    /// Nothing that is open goes on, except a COMMIT that is on its way.
    pub(super) fn disconnect(&mut self, client: ClientId) {
        let is_its_own = |open: &OpenTransaction| open.client == client && !open.is_late;
        let open: Vec<_> = self.open.iter().filter(|(_, open)| is_its_own(open)).map(|(id, _)| *id).collect();
        open.into_iter().for_each(|id| self.end(id));
    }

    /// As when the server is stopped.
    pub(super) fn end_all(&mut self) {
        let all: Vec<_> = self.open.keys().copied().collect();
        all.into_iter().for_each(|id| self.end(id));
    }
}

impl Snapshot {
    fn deactivate(&mut self) -> Result<(), StorageError> {
        if self.active.take().is_some() { self.store.batch("ROLLBACK") } else { Ok(()) }
    }
}

pub(super) fn conflict() -> StorageError {
    StorageError::Conflict("it conflicted with another transaction".into())
}

fn replay<'e>(store: &RowStore, mut statements: impl Iterator<Item = &'e Executed>) -> Result<(), Difference> {
    if statements.all(|executed| is_same_again(store, executed)) { Ok(()) } else { Err(Difference) }
}

fn is_same_again(store: &RowStore, Executed { request, drawn, outcome }: &Executed) -> bool {
    store.run_again(&request.statement, &request.params, drawn).as_ref() == Ok(outcome)
}

impl From<StorageError> for StatementFailure {
    fn from(error: StorageError) -> Self {
        Self::Other(error)
    }
}
