//! Accepts and serves connections up to the limits, until the stop. Rule: from the stop on, the kernel refuses new
//! connections, and open ones end at the latest with the drain timeout.

use super::acceptor::Acceptor;
use super::bind::Listener;
use super::connection_limits::ConnectionLimits;
use super::drain::{DrainReport, drain, log_panic};
use super::refusal::{RefusalLimit, refuse_connection};
use crate::connection::{ConnectionSettings, MakeTransport, Plain, serve_connection};
use crate::http_service::HttpService;
use crate::middleware::stack;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

impl Listener {
    /// Serves until `stop`, then drains.
    pub async fn serve<S: HttpService>(self, gateway: S, stop: CancellationToken) -> DrainReport {
        // Boxed: one listener has one of the two.
        match self.settings.tls.clone() {
            None => Box::pin(self.serve_by(Plain, gateway, stop)).await,
            Some(tls) => Box::pin(self.serve_by(tls, gateway, stop)).await,
        }
    }

    async fn serve_by<M: MakeTransport, S: HttpService>(
        self,
        transport_maker: M,
        gateway: S,
        stop: CancellationToken,
    ) -> DrainReport {
        let http = &self.settings.http;
        let service = stack(http, self.settings.response_timeout, self.exposed_headers, gateway);
        let limits = ConnectionLimits::new(http.connections_max, http.connections_per_ip_max);
        let settings = Arc::new(ConnectionSettings::new(http));
        let refusal_limit = RefusalLimit::new();
        let mut acceptor = Acceptor::new(self.tcp_listener, Arc::clone(&settings.open_connections));
        let mut connections = JoinSet::new();
        loop {
            let (stream, peer) = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(ended) = connections.join_next() => {
                    log_panic(ended);
                    continue;
                }
                accepted = acceptor.accept() => accepted,
            };
            let ip = peer.ip().to_canonical();
            match limits.try_acquire(ip) {
                Ok(permit) => {
                    disable_nagle(&stream);
                    let (service, settings, stop) = (service.clone(), Arc::clone(&settings), stop.child_token());
                    let transport_maker = transport_maker.clone();
                    // Spawned as it is: inside another future it would take its memory twice.
                    connections.spawn(serve_connection(stream, ip, transport_maker, service, settings, stop, permit));
                }
                Err(full) => {
                    tracing::debug!(%ip, ?full, "a connection is refused");
                    // Over TLS a response would need a handshake, which costs more than the connection: it is closed.
                    if self.settings.tls.is_none()
                        && let Some(permit) = refusal_limit.try_acquire()
                    {
                        connections.spawn(refuse_connection(stream, full, permit));
                    }
                }
            }
        }
        drop(acceptor);
        drain(connections, Duration::from_millis(http.drain_timeout_ms)).await
    }
}

fn disable_nagle(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was not set");
    }
}
