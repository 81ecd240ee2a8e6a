//! The simulated server, as a simulation starts it and its clients find it.

use super::{counts::SimulationCounts, faults::Faults, open_transaction::TransactionId, state::ServerState};
use crate::{error::StorageError, sqlite::storage_error};
use parking_lot::{Mutex, MutexGuard};
use secrecy::{ExposeSecret as _, SecretString};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

/// Milliseconds since the Unix epoch.
pub(super) type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

const URL_PREFIX: &str = "postgres://simulated/";
static SERVERS: Mutex<BTreeMap<u64, Weak<Server>>> = Mutex::new(BTreeMap::new());
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// A running server. Its clients keep it alive too.
#[derive(Clone)]
pub struct SimulatedPostgres(Arc<Server>);

/// How a connection fails around COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitFate {
    Answered,
    /// It has taken effect.
    AnswerLost,
    Never,
    /// It is answered as if it had taken effect.
    Forgotten,
    Late(Duration),
}

pub(super) struct Server {
    number: u64,
    clock: Clock,
    state: Mutex<ServerState>,
    late: Mutex<Vec<(Instant, TransactionId)>>,
    /// Notified when a transaction is over.
    pub changed: Notify,
    /// By channel, how many notifications there were.
    channels: Mutex<HashMap<String, watch::Sender<u64>>>,
    /// How often the server went away.
    pub absences: watch::Sender<u64>,
}

impl SimulatedPostgres {
    /// An empty server. `clock` is what its clients see as `clock_timestamp()`, in milliseconds since the Unix epoch.
    pub fn start(seed: u64, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Result<Self, StorageError> {
        let server = Arc::new(Server {
            number: LAST_NUMBER.fetch_add(1, Relaxed) + 1,
            clock: Arc::new(clock),
            state: Mutex::new(ServerState::new(seed)?),
            late: Mutex::default(),
            changed: Notify::new(),
            channels: Mutex::default(),
            absences: watch::Sender::new(0),
        });
        SERVERS.lock().insert(server.number, Arc::downgrade(&server));
        Ok(Self(server))
    }

    /// For [`crate::DatabaseSettings::new`], or `database.url` of a gateway in the same process.
    pub fn url(&self) -> String {
        format!("{URL_PREFIX}{}", self.0.number)
    }

    pub fn set_faults(&self, faults: Faults) {
        self.0.state().faults = faults;
    }

    /// A server that is away refuses every call; what was open is rolled back.
    pub fn set_away(&self, is_away: bool) {
        {
            let mut state = self.0.state();
            state.is_away = is_away;
            if is_away {
                self.0.late.lock().clear();
                state.end_all();
            }
        }
        if is_away {
            self.0.absences.send_modify(|absences| *absences += 1);
        }
        self.0.changed.notify_waiters();
    }

    /// The numbers of the opened databases, in the order in which they were opened.
    pub fn clients(&self) -> Vec<u64> {
        (1..=self.0.state().client_count()).collect()
    }

    /// The connections of a client are closed, as when its process was killed or frozen for good: what it had open is rolled back.
    pub fn disconnect(&self, client: u64) {
        self.0.state().disconnect(client);
        self.0.changed.notify_waiters();
    }

    /// Shows what is committed, past clients, faults and the trace. SQLite holds it, so `look` asks in its language.
    pub fn look<T>(&self, look: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>) -> Result<T, StorageError> {
        self.0.state().look(|connection| look(connection).map_err(|error| storage_error(&error)))
    }

    /// Changes what is committed, as somebody does who has the server's disk. In SQLite's language, also for triggers.
    pub fn tamper(&self, sql: &str) -> Result<(), StorageError> {
        let batch = |connection: &rusqlite::Connection| connection.execute_batch(sql).map_err(|e| storage_error(&e));
        self.0.state().commit_outside(batch)
    }

    /// Clients' statements run from now on with these parts replaced, each by the text beside it.
    pub fn alter_statements(&self, parts: &[(&'static str, &'static str)]) {
        self.0.state().alter_statements(parts);
    }

    pub fn counts(&self) -> SimulationCounts {
        self.0.state().counts
    }

    /// A number that follows from every statement, its parameters and its result, in their order.
    pub fn trace_hash(&self) -> u64 {
        self.0.state().trace()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        SERVERS.lock().remove(&self.number);
    }
}

impl Server {
    /// The server of an address; `None` where it is that of a real one.
    pub(super) fn of_url(url: &SecretString) -> Option<Result<Arc<Self>, StorageError>> {
        let number = url.expose_secret().strip_prefix(URL_PREFIX)?;
        let found = number.parse().ok().and_then(|number: u64| SERVERS.lock().get(&number).and_then(Weak::upgrade));
        Some(found.ok_or_else(|| StorageError::Unavailable("there is no such simulated server".to_owned())))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock()
    }

    pub(super) fn now_ms(&self) -> i64 {
        (self.clock)()
    }

    pub(super) fn end(&self, id: TransactionId) {
        self.state().end(id);
        self.changed.notify_waiters();
    }

    /// Takes the time of the way to the server, and fails as the faults say.
    pub(super) async fn reach(&self) -> Result<(), StorageError> {
        self.travel().await;
        self.commit_what_was_late();
        let mut state = self.state();
        if state.is_away {
            return Err(away());
        }
        let rate = state.faults.connection_lost;
        if state.random.happens(rate) {
            state.counts.lost_connections += 1;
            return Err(connection_lost());
        }
        Ok(())
    }

    pub(super) async fn travel(&self) {
        let time = {
            let mut state = self.state();
            let longest = state.faults.latency_max;
            state.random.up_to(longest)
        };
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
    }

    pub(super) fn draw_commit_fate(&self) -> CommitFate {
        let mut state = self.state();
        let faults = state.faults;
        if state.random.happens(faults.commit_forgotten) {
            return CommitFate::Forgotten;
        }
        let fate = if state.random.happens(faults.commit_answer_lost) {
            CommitFate::AnswerLost
        } else if state.random.happens(faults.commit_lost) {
            CommitFate::Never
        } else if state.random.happens(faults.commit_late) {
            CommitFate::Late(state.random.up_to(faults.commit_late_max))
        } else {
            return CommitFate::Answered;
        };
        state.counts.lost_connections += 1;
        state.counts.lost_commit_answers += u64::from(fate == CommitFate::AnswerLost);
        fate
    }

    pub(super) fn commit_later(&self, id: TransactionId, wait: Duration) {
        if let Some(open) = self.state().open(id) {
            open.is_late = true;
            open.idle_since = None;
        }
        self.late.lock().push((Instant::now() + wait, id));
    }

    /// Nobody sees a commit before somebody looks.
    pub(super) fn commit_what_was_late(&self) {
        let now = Instant::now();
        let due = {
            let mut late = self.late.lock();
            let mut due: Vec<_> = late.extract_if(.., |(at, _)| *at <= now).collect();
            due.sort();
            due
        };
        for (_, id) in due {
            let mut state = self.state();
            let committed = state.commit(id);
            state.counts.late_commits += u64::from(committed.is_ok());
            state.note(&("late", id, committed.is_ok()));
            drop(state);
            self.changed.notify_waiters();
        }
    }

    pub(super) fn subscribe(&self, channel: &str) -> watch::Receiver<u64> {
        self.channels.lock().entry(channel.to_owned()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    pub(super) fn notify(&self, channel: &str) {
        {
            let mut state = self.state();
            let rate = state.faults.notification_lost;
            if state.random.happens(rate) {
                state.counts.lost_notifications += 1;
                return;
            }
        }
        // Nobody is woken under a lock: whoever is woken may want it.
        let sender = self.channels.lock().get(channel).cloned();
        if let Some(sender) = sender {
            sender.send_modify(|count| *count += 1);
        }
    }
}

pub(super) fn away() -> StorageError {
    StorageError::Unavailable("no connection to the server: connection refused".to_owned())
}

pub(super) fn connection_lost() -> StorageError {
    StorageError::Unavailable("no connection to the server: connection reset".to_owned())
}
