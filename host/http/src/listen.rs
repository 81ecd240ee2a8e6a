//! The listener: binds, accepts up to the caps, and stops. Rule: from the moment of the stop new connections are refused by
//! the kernel, and those that are open end at the latest with the drain timeout.

use super::accept::Acceptor;
use super::connection::{self, Terms};
use super::cors::Cors;
use super::refuse::{Refusals, refuse};
use super::settings::EdgeSettings;
use super::slots::Slots;
use super::stack::stack;
use super::stage::HttpService;
use gateway_config::HttpConfig;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Connections that wait in the kernel to be accepted.
const BACKLOG: u32 = 1024;

#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    #[error("http.listen: {listen} is in use; stop the program that holds it or choose another port")]
    AddressInUse { listen: SocketAddr },
    #[error("http.listen: {listen} cannot be listened on: {source}")]
    Unusable {
        listen: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("the brand's header prefix {prefix:?} cannot begin the name of a header")]
    HeaderPrefix { prefix: String },
}

/// A bound listener that does not serve yet.
pub struct Edge {
    listener: TcpListener,
    local_addr: SocketAddr,
    settings: EdgeSettings,
    cors: Cors,
}

/// How the stop went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    pub finished: usize,
    /// Still busy when the drain timeout was over.
    pub aborted: usize,
}

impl Edge {
    /// Within a tokio runtime.
    pub fn bind(settings: &EdgeSettings) -> Result<Self, EdgeError> {
        let prefix = || EdgeError::HeaderPrefix { prefix: settings.header_prefix.clone() };
        let cors = Cors::new(settings.http.cors, &settings.header_prefix).ok_or_else(prefix)?;
        let listen = settings.http.listen;
        let unusable = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => EdgeError::AddressInUse { listen },
            _ => EdgeError::Unusable { listen, source },
        };
        let listener = listen_on(listen).map_err(unusable)?;
        let local_addr = listener.local_addr().map_err(unusable)?;
        Ok(Self { listener, local_addr, settings: settings.clone(), cors })
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Serves until `shutdown`, then drains.
    pub async fn serve<S: HttpService>(self, gateway: S, shutdown: CancellationToken) -> Drained {
        let stack = stack(&self.settings, self.cors, gateway);
        let slots = Slots::new(self.settings.http.connections_max, self.settings.http.connections_per_ip_max);
        let terms = Arc::new(Terms::new(&self.settings.http));
        let refusals = Refusals::new();
        let mut acceptor = Acceptor::new(self.listener);
        let mut connections = JoinSet::new();
        loop {
            let (stream, peer) = tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                Some(ended) = connections.join_next() => {
                    report_panic(ended);
                    continue;
                }
                accepted = acceptor.accept() => accepted,
            };
            let ip = peer.ip().to_canonical();
            match slots.take(ip) {
                Ok(slot) => {
                    send_at_once(&stream);
                    let connection =
                        connection::serve(stream, ip, stack.clone(), Arc::clone(&terms), shutdown.child_token());
                    connections.spawn(async move {
                        let _slot = slot;
                        connection.await;
                    });
                }
                Err(full) => {
                    tracing::debug!(%ip, ?full, "a connection is refused");
                    if let Some(place) = refusals.place() {
                        connections.spawn(refuse(stream, full, place));
                    }
                }
            }
        }
        drop(acceptor);
        drain(connections, &self.settings.http).await
    }
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restart must not wait for the last run's connections to be forgotten.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

fn send_at_once(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was not set");
    }
}

async fn drain(mut connections: JoinSet<()>, settings: &HttpConfig) -> Drained {
    let open = connections.len();
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            report_panic(ended);
        }
    };
    // Whether the time ran out shows in what is left.
    let _ = timeout(Duration::from_millis(settings.drain_timeout_ms), all_ended).await;
    let aborted = connections.len();
    connections.shutdown().await;
    let drained = Drained { finished: open - aborted, aborted };
    tracing::info!(finished = drained.finished, aborted = drained.aborted, "the HTTP listener has stopped");
    drained
}

fn report_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection's task ended badly");
    }
}
