//! The operator's listener: on a loopback address by default, never on the public one.
//!
//! It has no login: every client that reaches it acts as the operator. The rule: a web page that the operator visits
//! cannot use it ([`guard`]), and every change is logged and audited ([`actions`]).

mod actions;
pub mod client;
pub mod guard;
mod page;
mod response;
mod routes;

pub use actions::record;

use gateway::Gateway;
use gateway_config::AdminConfig;
use gateway_telemetry::MetricsRecorder;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use routes::AdminContext;
use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

pub struct Admin {
    listener: TcpListener,
    address: SocketAddr,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address} ({source}): choose another admin.listen, or \"off\"")]
pub struct AdminError {
    address: SocketAddr,
    source: std::io::Error,
}

impl Admin {
    /// `None` when the operator switched it off.
    pub async fn bind(config: &AdminConfig) -> Result<Option<Self>, AdminError> {
        let Some(address) = config.listen else { return Ok(None) };
        let listener = TcpListener::bind(address).await.map_err(|source| AdminError { address, source })?;
        let address = listener.local_addr().map_err(|source| AdminError { address, source })?;
        Ok(Some(Self { listener, address }))
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves in a task of its own, until `stop`.
    pub fn spawn(
        self,
        gateway: Arc<Gateway>,
        metrics: Option<MetricsRecorder>,
        stop: CancellationToken,
    ) -> JoinHandle<()> {
        tokio::spawn(self.serve(AdminContext { gateway, metrics }, stop))
    }

    async fn serve(self, context: AdminContext, stop: CancellationToken) {
        loop {
            let (socket, peer) = tokio::select! {
                () = stop.cancelled() => return,
                accepted = self.listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        tracing::warn!(%error, "the admin listener cannot accept");
                        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                        continue;
                    }
                },
            };
            let context = context.clone();
            let service = hyper::service::service_fn(move |request| {
                let context = context.clone();
                async move { Ok::<_, Infallible>(routes::respond(&context, request, peer).await) }
            });
            tokio::spawn(async move {
                let mut connection = auto::Builder::new(TokioExecutor::new());
                connection.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
                // A client that disconnects early is not an error.
                let _ = connection.serve_connection(TokioIo::new(socket), service).await;
            });
        }
    }
}
