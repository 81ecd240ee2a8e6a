//! The connections to one address that no request uses.

use super::connection::Connection;
use parking_lot::Mutex;
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use tokio::{runtime::Handle, time::Instant};

/// How long an idle connection stays open. Servers of agents close theirs after five seconds by default (Node.js, Uvicorn), and a
/// request that meets such a close on its way fails.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
const IDLE_CONNECTIONS_MAX: usize = 64;

#[derive(Default)]
pub(super) struct IdleConnections(Mutex<State>);

#[derive(Default)]
struct State {
    /// With the time since when each is idle, the oldest first.
    connections: Vec<(Instant, Connection)>,
    /// Whether a task closes those that are idle for too long.
    is_swept: bool,
}

impl IdleConnections {
    /// The one that was used last, if the other side has kept it open.
    pub(super) fn take(&self) -> Option<Connection> {
        loop {
            let (since, mut connection) = self.0.lock().connections.pop()?;
            if since.elapsed() < IDLE_TIMEOUT && connection.is_idle() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection, unless something is left of its last request.
    pub(super) fn put(self: &Arc<Self>, mut connection: Connection) {
        // A plugin may read a body on a thread of its own, where nobody could close the connection later.
        let Ok(runtime) = Handle::try_current() else { return };
        if !connection.is_idle() {
            return;
        }
        let mut state = self.0.lock();
        if state.connections.len() >= IDLE_CONNECTIONS_MAX {
            state.connections.remove(0);
        }
        state.connections.push((Instant::now(), connection));
        if !state.is_swept {
            state.is_swept = true;
            runtime.spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Closes those that are idle for too long; returns whether any are left.
    fn close_expired(&self) -> bool {
        let mut state = self.0.lock();
        state.connections.retain(|(since, _)| since.elapsed() < IDLE_TIMEOUT);
        state.is_swept = !state.connections.is_empty();
        state.is_swept
    }
}

/// Ends when there is nothing to close: the next connection that is put back starts another one.
async fn sweep(idle: Weak<IdleConnections>) {
    loop {
        tokio::time::sleep(IDLE_TIMEOUT).await;
        let Some(idle) = idle.upgrade() else { return };
        if !idle.close_expired() {
            return;
        }
    }
}
