//! The operator's listener: on a loopback address by default, never on the public one.
//!
//! It has a runtime of its own, on which no code of a plugin runs. Without a token or an authority of operators every client that reaches it acts as the operator.
//! The rule: a web page that the operator visits cannot use it ([`guard`]), and every change is logged and audited ([`actions`]).

#![cfg_attr(not(test), warn(unreachable_pub))]

mod actions;
pub mod client;
mod client_tls;
mod connection;
mod guard;
mod operator;
mod page;
mod reports;
mod response;
mod routes;
mod tls;

pub use actions::record;
pub use client_tls::ClientTls;

use gateway::{Gateway, TlsError};
use gateway_config::AdminConfig;
use gateway_telemetry::{MetricsRecorder, TRAFFIC_INTERVAL};
use guard::Guard;
use routes::AdminContext;
use std::{net::SocketAddr, sync::Arc};
use tls::AdminTls;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

/// An operator, a scraper and some probes need a handful.
const CONNECTIONS_MAX: usize = 64;
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 5\r\nconnection: close\r\n\r\n";

pub struct Admin {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
    tls: Option<Arc<AdminTls>>,
}

#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    #[error("cannot listen on {address} ({source}): choose another admin.listen, or \"off\"")]
    Bind { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// Whether the files of `[admin.tls]` can be used, for `gateway check`.
pub fn check_tls(config: &AdminConfig) -> Result<(), TlsError> {
    AdminTls::open(&config.tls).map(drop)?;
    ClientTls::of(&config.tls).map(drop)
}

impl Admin {
    /// `None` when the operator switched it off.
    pub async fn bind(config: &AdminConfig) -> Result<Option<Self>, AdminError> {
        let Some(address) = config.listen else { return Ok(None) };
        let failed = |source| AdminError::Bind { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let tls = AdminTls::open(&config.tls)?.map(Arc::new);
        let asks = config.token.is_some() || (tls.is_some() && config.tls.client_ca.is_some());
        if !address.ip().is_loopback() && !asks {
            tracing::warn!(%address, "whoever reaches the operator's listener acts as the operator: set GATEWAY_ADMIN__TOKEN");
        }
        Ok(Some(Self { listener, address, guard: Guard::new(config), tls }))
    }

    /// Where it is reached.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until `stop`, with the runtime that it is polled on.
    pub async fn serve(self, gateway: Arc<Gateway>, metrics: Option<MetricsRecorder>, stop: CancellationToken) {
        if let Some(tls) = &self.tls {
            gateway.follow_tls(tls.clone()).await;
        }
        let context = AdminContext { gateway, metrics, guard: Arc::new(self.guard) };
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut traffic_intervals = tokio::time::interval(TRAFFIC_INTERVAL);
        loop {
            let (socket, peer) = tokio::select! {
                () = stop.cancelled() => return,
                _ = traffic_intervals.tick() => {
                    context.gateway.usage.close_traffic_interval();
                    continue;
                }
                accepted = self.listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        tracing::warn!(%error, "the admin listener cannot accept");
                        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                        continue;
                    }
                },
            };
            let Ok(permit) = permits.clone().try_acquire_owned() else {
                refuse(&socket, peer);
                continue;
            };
            let (context, tls) = (context.clone(), self.tls.clone());
            tokio::spawn(async move {
                let _permit = permit;
                serve_connection(context, tls, socket, peer).await;
            });
        }
    }
}

async fn serve_connection(context: AdminContext, tls: Option<Arc<AdminTls>>, socket: TcpStream, peer: SocketAddr) {
    let respond = |certificate: Option<Arc<str>>| {
        let context = context.clone();
        move |request| {
            let (context, certificate) = (context.clone(), certificate.clone());
            async move { routes::respond(&context, request, peer, certificate.as_deref()).await }
        }
    };
    let Some(tls) = tls else { return connection::serve(socket, respond(None), connection::IDLE_TIMEOUT).await };
    match tls.accept(socket).await {
        Ok((stream, certificate)) => {
            connection::serve(stream, respond(certificate), connection::IDLE_TIMEOUT).await;
        }
        // Also a certificate of nobody that is known here.
        Err(error) => tracing::debug!(%peer, %error, "a handshake with the operator's listener failed"),
    }
}

/// Says so to a client that can take it at once.
fn refuse(socket: &TcpStream, peer: SocketAddr) {
    tracing::warn!(%peer, max = CONNECTIONS_MAX, "the operator's listener has no connection left");
    let _ = socket.try_write(FULL);
}
