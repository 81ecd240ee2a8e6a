//! Accepts connections. Rule: no error of `accept` ends the listener; after an error that persists (no file descriptors
//! left) it sleeps before the next attempt instead of spinning.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

const RETRY_PAUSE: Duration = Duration::from_millis(50);
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// A source of connections; tests implement one that fails.
pub trait Accept {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)>;
}

impl Accept for TcpListener {
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        TcpListener::accept(self).await
    }
}

pub struct Acceptor<L> {
    listener: L,
    logged_at: Option<Instant>,
}

impl<L: Accept> Acceptor<L> {
    pub fn new(listener: L) -> Self {
        Self { listener, logged_at: None }
    }

    pub async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => return accepted,
                Err(error) if is_connection_error(&error) => {}
                Err(error) => {
                    self.log(&error);
                    sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    fn log(&mut self, error: &io::Error) {
        if self.logged_at.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
            self.logged_at = Some(Instant::now());
            tracing::error!(%error, "no connection can be accepted right now; is the limit of open files too low?");
        }
    }
}

/// The error concerns only this connection: its client left before it was accepted.
fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
