//! Whether the server is there. A task finds out on a connection of its own, so that no request has to wait for it.
//!
//! The rule: while the server is away, every call fails at once with the reason; a server that is there and slow, or that
//! refuses one client, is not away.

use super::{
    connector::Connector,
    error::{NO_ANSWER, away_reason},
    session::Session,
};
use crate::error::StorageError;
use parking_lot::Mutex;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};

/// Between two pings, unless a connection of the pool was found dead.
const PING_INTERVAL: Duration = Duration::from_secs(1);
/// A server that answers a ping later than this is away: it is frozen, or the network drops its packets.
const PING_TIMEOUT: Duration = Duration::from_secs(3);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const RETRY: Duration = Duration::from_millis(200);

/// What is known about the server. The connections of the pool report into it, and the watching task.
pub(crate) struct Reachability {
    state: Arc<State>,
    watcher: Mutex<Option<JoinHandle<()>>>,
}

/// What the server is for, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerRole {
    Primary,
    /// With its place in `database.read_urls`.
    ReadReplica(usize),
}

struct State {
    server: ServerRole,
    /// Why the server is away, while it is.
    away: watch::Sender<Option<String>>,
    /// A connection of the pool was found dead.
    dead_connection: Arc<Notify>,
}

impl Reachability {
    /// Present until a task of [`Self::watch`] finds it away.
    pub(crate) fn of(server: ServerRole) -> Self {
        let state = State { server, away: watch::Sender::new(None), dead_connection: Arc::default() };
        Self { state: Arc::new(state), watcher: Mutex::default() }
    }

    pub(crate) fn is_away(&self) -> bool {
        self.state.away.borrow().is_some()
    }

    /// The output of `work`, or an error as soon as the server is known to be away.
    pub(crate) async fn while_reachable<T>(&self, work: impl Future<Output = T>) -> Result<T, StorageError> {
        let mut away = self.state.away.subscribe();
        let is_away = async {
            match away.wait_for(Option::is_some).await {
                Ok(reason) => StorageError::Unavailable(reason.clone().unwrap_or_default()),
                Err(_closed) => StorageError::Unavailable("the database is closed".into()),
            }
        };
        tokio::select! {
            biased;
            error = is_away => Err(error),
            done = work => Ok(done),
        }
    }

    /// To be told when a connection was found dead: then the server is looked at soon.
    pub(crate) fn dead_connection(&self) -> Arc<Notify> {
        Arc::clone(&self.state.dead_connection)
    }

    /// Starts the task that watches the server.
    pub(crate) fn watch(&self, connector: Connector) {
        let watcher = tokio::spawn(watch_server(Arc::clone(&self.state), connector));
        *self.watcher.lock() = Some(watcher);
    }

    /// Whatever the server does, every call fails with this reason from now on.
    pub(crate) fn close(&self, reason: &str) {
        self.stop_watching();
        self.state.set_away(reason);
    }

    pub(crate) fn stop_watching(&self) {
        if let Some(watcher) = self.watcher.lock().take() {
            watcher.abort();
        }
    }
}

impl Drop for Reachability {
    fn drop(&mut self) {
        self.stop_watching();
    }
}

async fn watch_server(state: Arc<State>, connector: Connector) {
    let mut lost_at = Instant::now();
    loop {
        match timeout(CONNECT_TIMEOUT, connector.connect()).await {
            Ok(Ok(session)) => {
                state.set_present(lost_at);
                ping_until_lost(&state, session).await;
                lost_at = Instant::now();
                continue;
            }
            Ok(Err(error)) => {
                if let Some(reason) = away_reason(&error) {
                    state.set_away(&reason);
                }
            }
            Err(_elapsed) => state.set_away(NO_ANSWER),
        }
        sleep(RETRY).await;
    }
}

/// A connection that was closed may be the only one: the caller connects again before it calls the server away.
async fn ping_until_lost(state: &State, mut session: Session) {
    loop {
        tokio::select! {
            () = sleep(PING_INTERVAL) => {}
            () = state.dead_connection.notified() => {}
        }
        match timeout(PING_TIMEOUT, session.batch("")).await {
            Ok(Ok(())) => {}
            Ok(Err(_closed)) => return,
            Err(_elapsed) => return state.set_away(NO_ANSWER),
        }
    }
}

impl State {
    fn set_away(&self, reason: &str) {
        self.away.send_if_modified(|away| {
            if away.is_none() {
                match self.server {
                    ServerRole::Primary => {
                        tracing::error!(reason, "PostgreSQL is away: requests that need it are refused")
                    }
                    ServerRole::ReadReplica(number) => {
                        tracing::warn!(number, reason, "a read replica is away: the primary answers in its place");
                    }
                }
            }
            let is_new = away.as_deref() != Some(reason);
            *away = Some(reason.to_owned());
            is_new
        });
    }

    fn set_present(&self, lost_at: Instant) {
        self.away.send_if_modified(|away| {
            if away.is_some() {
                let away_ms = lost_at.elapsed().as_millis();
                match self.server {
                    ServerRole::Primary => tracing::info!(away_ms, "PostgreSQL is back"),
                    ServerRole::ReadReplica(number) => tracing::info!(number, away_ms, "a read replica is back"),
                }
            }
            away.take().is_some()
        });
    }
}
