//! The connections that are open, so that the longest idle ones can be closed when the process has no file descriptors left.
//! Rule: a connection with a running request is never closed here.

use super::connection_state::ConnectionState;
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio_util::sync::CancellationToken;

/// How many are closed at a time: clients that connect and stay silent come faster than one by one.
const CLOSED_AT_ONCE: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct OpenConnections {
    next_id: AtomicU64,
    by_id: Mutex<HashMap<u64, OpenConnection>>,
}

#[derive(Debug)]
struct OpenConnection {
    state: Arc<ConnectionState>,
    close: CancellationToken,
}

/// Removes the connection from the list when it ends.
#[derive(Debug)]
pub(crate) struct OpenConnectionGuard<'a> {
    connections: &'a OpenConnections,
    id: u64,
    close: CancellationToken,
}

impl OpenConnections {
    pub(crate) fn insert(&self, state: Arc<ConnectionState>) -> OpenConnectionGuard<'_> {
        let (id, close) = (self.next_id.fetch_add(1, Relaxed), CancellationToken::new());
        self.by_id.lock().insert(id, OpenConnection { state, close: close.clone() });
        OpenConnectionGuard { connections: self, id, close }
    }

    /// Tells the longest idle connections to close; returns how many.
    pub(crate) fn close_longest_idle(&self) -> usize {
        let connections = self.by_id.lock();
        let open = connections.iter().filter(|(_, connection)| !connection.close.is_cancelled());
        let mut idle: Vec<_> =
            open.filter_map(|(id, open)| Some((Reverse(open.state.waiting_for_client_ms()?), id, open))).collect();
        // Of two that wait alike, the one that was opened first.
        idle.sort_unstable_by_key(|(waiting_ms, id, _)| (*waiting_ms, *id));
        let closed = idle.iter().take(CLOSED_AT_ONCE);
        closed.map(|(_, _, connection)| connection.close.cancel()).count()
    }
}

impl OpenConnectionGuard<'_> {
    /// Returns when the connection has to make room.
    pub(crate) async fn close_requested(&self) {
        self.close.cancelled().await;
    }
}

impl Drop for OpenConnectionGuard<'_> {
    fn drop(&mut self) {
        self.connections.by_id.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_told(guard: &OpenConnectionGuard<'_>) -> bool {
        guard.close.is_cancelled()
    }

    #[test]
    fn the_longest_idle_are_closed_and_none_with_a_request() {
        let open = OpenConnections::default();
        let busy_state = Arc::new(ConnectionState::new());
        let _request = busy_state.start_request();
        let busy = open.insert(busy_state);
        let mut idle = Vec::new();
        for _ in 0..CLOSED_AT_ONCE + 2 {
            idle.push(open.insert(Arc::new(ConnectionState::new())));
        }
        let ended = idle.remove(0);
        drop(ended);
        assert_eq!(open.close_longest_idle(), CLOSED_AT_ONCE);
        let told: Vec<bool> = idle.iter().map(is_told).collect();
        assert!(told[..CLOSED_AT_ONCE].iter().all(|told| *told) && !told[CLOSED_AT_ONCE], "{told:?}");
        assert_eq!(open.close_longest_idle(), 1, "those that were told are not counted again");
        assert_eq!(open.close_longest_idle(), 0);
        assert!(!is_told(&busy));
    }
}
