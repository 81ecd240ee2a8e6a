//! Accepts connections. Rule: no error of `accept` ends the listener; after an error that persists (no file descriptors
//! left) it closes the longest idle connections and sleeps before the next attempt instead of spinning.

use crate::connection::OpenConnections;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

const RETRY_PAUSE: Duration = Duration::from_millis(50);
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// A source of connections; tests implement one that fails.
pub(crate) trait ConnectionSource {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)>;
}

impl ConnectionSource for TcpListener {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        TcpListener::accept(self).await
    }
}

pub(crate) struct Acceptor<L> {
    listener: L,
    open_connections: Arc<OpenConnections>,
    logged_at: Option<Instant>,
}

impl<L: ConnectionSource> Acceptor<L> {
    pub(crate) fn new(listener: L, open_connections: Arc<OpenConnections>) -> Self {
        Self { listener, open_connections, logged_at: None }
    }

    pub(crate) async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => return accepted,
                Err(error) if is_connection_error(&error) => {}
                Err(error) => {
                    let closed = self.open_connections.close_longest_idle();
                    self.log(&error, closed);
                    sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    fn log(&mut self, error: &io::Error, closed: usize) {
        if self.logged_at.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
            self.logged_at = Some(Instant::now());
            tracing::error!(
                %error,
                closed,
                "no connection can be accepted right now, idle ones are closed; is the limit of open files too low?"
            );
        }
    }
}

/// The error concerns only this connection: its client left before it was accepted.
fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
