//! A batch of chain events in a plugin's hands.
//!
//! The rule: what a handler writes and publishes belongs to the event that it was called with, for that decides with which
//! block it is undone. The plugin's side says which event that is, and must take all of them in their order.

use super::store::Store;
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};
use gateway_plugins::{PluginTransaction, read_event};
use gateway_storage::StorageError;
use parking_lot::Mutex;
use plugin_api::{
    abi::{
        FfiBytes, HostError, HostErrorCode, Outcome, Reply, Statement, Transaction as AbiTransaction, Transaction_TO,
        TransactionBox,
    },
    manifest::NewEvent,
};
use std::sync::Arc;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// What one chain event may publish; more is a plugin gone wild.
const PUBLISHED_MAX: usize = 1000;
/// With so many deferred statements behind those under way, the plugin waits for the database.
const PILE_MAX: usize = 2_000;

pub struct Feed {
    transaction: Arc<PluginTransaction>,
    store: Store,
    /// The turn of each event.
    turns: Vec<i64>,
    now: Mutex<Now>,
    tasks: TaskTracker,
    /// What was deferred is on its way to the database while the plugin goes on with the next events.
    under_way: tokio::sync::Mutex<Option<UnderWay>>,
}

type UnderWay = AbortOnDropHandle<Result<(), StorageError>>;

#[derive(Default)]
struct Now {
    /// How many events the plugin has begun with.
    begun: usize,
    turn: Option<i64>,
    /// With the place of the event that published it.
    published: Vec<(usize, NewEvent)>,
    broken: Option<String>,
}

impl Feed {
    pub fn new(transaction: &Arc<PluginTransaction>, store: &Store, turns: Vec<i64>, tasks: &TaskTracker) -> Arc<Self> {
        let (transaction, store, tasks) = (transaction.clone(), store.clone(), tasks.clone());
        let (now, under_way) = (Mutex::default(), tokio::sync::Mutex::default());
        Arc::new(Self { transaction, store, turns, now, tasks, under_way })
    }

    pub fn handle(self: &Arc<Self>) -> TransactionBox {
        Transaction_TO::from_value(Handle(self.clone()), TD_Opaque)
    }

    /// Waits until all that was deferred has run. What fails in it fails the events.
    pub async fn settle(&self) -> Result<(), StorageError> {
        Self::settled(&mut *self.under_way.lock().await).await?;
        self.transaction.run(Vec::new()).await.map(drop)
    }

    async fn settled(under_way: &mut Option<UnderWay>) -> Result<(), StorageError> {
        let Some(task) = under_way else { return Ok(()) };
        let outcome = task.await;
        *under_way = None;
        // A task ends early only when the plugin stops.
        outcome.unwrap_or_else(|_| Err(StorageError::Closed("the plugin stops".to_owned())))
    }

    /// Runs statements after those that were deferred. Without any, it only sends those on their way, or leaves them where they
    /// are while the database is busy with others; but what a single event fails with is told to its handler.
    async fn run(&self, statements: Vec<Statement>) -> Result<Vec<Outcome>, StorageError> {
        let mut under_way = self.under_way.lock().await;
        let wants_answer = !statements.is_empty() || self.turns.len() == 1;
        let is_busy = under_way.as_ref().is_some_and(|task| !task.is_finished());
        if !wants_answer && is_busy && self.transaction.deferred_count() < PILE_MAX {
            return Ok(Vec::new());
        }
        Self::settled(&mut under_way).await?;
        if wants_answer {
            return self.transaction.run(statements).await;
        }
        let transaction = self.transaction.clone();
        let task = self.tasks.spawn(async move { transaction.run(Vec::new()).await.map(drop) });
        *under_way = Some(AbortOnDropHandle::new(task));
        Ok(Vec::new())
    }

    /// What was published, if the plugin took every event.
    pub fn finish(&self) -> Result<Vec<(usize, NewEvent)>, String> {
        let mut now = self.now.lock();
        match now.broken.take() {
            Some(reason) => Err(reason),
            None if now.begun < self.turns.len() => Err("the plugin left out events".to_owned()),
            None => Ok(std::mem::take(&mut now.published)),
        }
    }

    fn begin_event(&self, place: u32) {
        let mut now = self.now.lock();
        match self.turns.get(place as usize) {
            Some(turn) if place as usize == now.begun => {
                now.begun += 1;
                if now.turn.replace(*turn) != Some(*turn)
                    && let Err(error) = self.transaction.defer_as_host(self.store.begin_turn(*turn))
                {
                    now.broken = Some(error.to_string());
                }
            }
            _ => now.broken = Some("the plugin took an event out of its order".to_owned()),
        }
    }

    fn publish(&self, event: &[u8]) -> Result<(), HostError> {
        let event = read_event(event)?;
        let refuse = |message: String| HostError::new(HostErrorCode::Invalid, message);
        let mut now = self.now.lock();
        let place = now.begun.checked_sub(1).ok_or_else(|| refuse("no chain event was begun".to_owned()))?;
        let so_far = now.published.iter().rev().take_while(|(of, _)| *of == place).count();
        if so_far >= PUBLISHED_MAX {
            return Err(refuse(format!("more than {PUBLISHED_MAX} events follow from one chain event")));
        }
        now.published.push((place, event));
        Ok(())
    }
}

struct Handle(Arc<Feed>);

impl AbiTransaction for Handle {
    fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<Outcome>, HostError>> {
        let feed = self.0.clone();
        async move {
            let outcomes = feed.run(statements.into_vec()).await;
            outcomes.map(RVec::from).map_err(HostError::from).into()
        }
        .into_ffi()
    }

    fn defer(&self, statement: Statement) -> RResult<(), HostError> {
        self.0.transaction.defer(statement).map_err(HostError::from).into()
    }

    fn begin_event(&self, place: u32) {
        self.0.begin_event(place);
    }

    fn publish(&self, event: FfiBytes) -> RResult<(), HostError> {
        self.0.publish(&event).into()
    }

    fn ask(&self, _: RString, _: FfiBytes) -> FfiFuture<RResult<Reply, HostError>> {
        let message = "what is sent cannot be taken back with the chain: a job sends what follows from its events";
        std::future::ready(RResult::RErr(HostError::new(HostErrorCode::Refused, message))).into_ffi()
    }

    fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
        let message = "the gateway commits the transaction of chain events after the last of them";
        std::future::ready(RResult::RErr(HostError::new(HostErrorCode::Refused, message))).into_ffi()
    }
}
