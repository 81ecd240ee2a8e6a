//! The operator's listener: loopback unless said otherwise, never the public one.
//!
//! For now it reads: plugins, jobs, metrics, liveness. It changes nothing, so that no request can.

use crate::{config::AdminConfig, gateway::Gateway};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use metrics_exporter_prometheus::PrometheusHandle;
use serde::Serialize;
use std::{convert::Infallible, net::SocketAddr, sync::Arc};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

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

    pub async fn serve(self, gateway: Arc<Gateway>, metrics: Option<PrometheusHandle>, stop: CancellationToken) {
        loop {
            let socket = tokio::select! {
                () = stop.cancelled() => return,
                accepted = self.listener.accept() => match accepted {
                    Ok((socket, _)) => socket,
                    Err(error) => {
                        tracing::warn!(%error, "the admin listener cannot accept");
                        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                        continue;
                    }
                },
            };
            let (gateway, metrics) = (gateway.clone(), metrics.clone());
            let service = hyper::service::service_fn(move |request| {
                let (gateway, metrics) = (gateway.clone(), metrics.clone());
                async move { Ok::<_, Infallible>(answer(&gateway, metrics.as_ref(), &request).await) }
            });
            tokio::spawn(async move {
                let connection = auto::Builder::new(TokioExecutor::new());
                // A client that leaves early is no event.
                let _ = connection.serve_connection(TokioIo::new(socket), service).await;
            });
        }
    }
}

const INDEX: &str = "GET /plugins  every plugin with its state\nGET /jobs     every job with its last result and next run\nGET /metrics  for Prometheus\nGET /health   200 while the database answers, else 503\n";

async fn answer(
    gateway: &Gateway,
    metrics: Option<&PrometheusHandle>,
    request: &Request<Incoming>,
) -> Response<Full<Bytes>> {
    if request.method() != Method::GET {
        return text(StatusCode::METHOD_NOT_ALLOWED, "the admin listener only answers GET\n".to_owned());
    }
    match request.uri().path() {
        "/" => text(StatusCode::OK, INDEX.to_owned()),
        "/plugins" => json(&gateway.plugin_reports()),
        "/jobs" => match gateway.jobs.store.list().await {
            Ok(jobs) => json(&jobs),
            Err(error) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
        },
        "/health" => match gateway.services.database.probe().await {
            Ok(()) => text(StatusCode::OK, "ok\n".to_owned()),
            Err(error) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
        },
        "/metrics" => text(StatusCode::OK, metrics.map(PrometheusHandle::render).unwrap_or_default()),
        _ => text(StatusCode::NOT_FOUND, INDEX.to_owned()),
    }
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    typed(status, "text/plain; charset=utf-8", body.into())
}

fn json(value: &impl Serialize) -> Response<Full<Bytes>> {
    typed(StatusCode::OK, "application/json", serde_json::to_vec(value).unwrap_or_default().into())
}

fn typed(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
