//! Accepting connections. Rule: no error of `accept` ends the listener; those that last (no file descriptors left) are
//! waited out instead of spun on.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

const PAUSE: Duration = Duration::from_millis(50);
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// Where connections come from; tests put a failing source here.
pub trait Source {
    async fn next(&self) -> io::Result<(TcpStream, SocketAddr)>;
}

impl Source for TcpListener {
    async fn next(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.accept().await
    }
}

pub struct Acceptor<L> {
    source: L,
    logged_at: Option<Instant>,
}

impl<L: Source> Acceptor<L> {
    pub fn new(source: L) -> Self {
        Self { source, logged_at: None }
    }

    pub async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            match self.source.next().await {
                Ok(accepted) => return accepted,
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    self.log(&error);
                    sleep(PAUSE).await;
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

/// The client was gone before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
