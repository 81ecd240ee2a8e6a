//! The HTTP side of a server: one request, bounded in bytes. The rule: an answer is read up to a limit and errors hold no
//! address.

use alloy::{
    rpc::json_rpc::{RequestPacket, ResponsePacket},
    transports::{TransportError, TransportErrorKind, TransportFut},
};
use std::task::{Context, Poll};
use tower::Service;
use url::Url;

/// 100,000 events are about 83 MB; the gateway asks for fewer at a time.
pub const ANSWER_BYTES_MAX: usize = 128 * 1024 * 1024;

#[derive(Clone)]
pub struct BoundedHttp {
    pub client: reqwest::Client,
    pub url: Url,
}

/// Travels through alloy's error type.
#[derive(Debug, thiserror::Error)]
pub enum HttpFault {
    #[error("{0}")]
    Unreachable(String),
    #[error("HTTP status {0}")]
    Status(u16),
    #[error("more than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("{0}")]
    Garbage(String),
}

impl BoundedHttp {
    async fn exchange(self, packet: RequestPacket) -> Result<ResponsePacket, HttpFault> {
        let request = self.client.post(self.url).json(&packet);
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(HttpFault::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        match serde_json::from_slice(&body) {
            // Some servers send JSON-RPC errors with a status of their own.
            Ok(answer) => Ok(answer),
            Err(_) if !status.is_success() => Err(HttpFault::Status(status.as_u16())),
            Err(error) => Err(HttpFault::Garbage(error.to_string())),
        }
    }
}

/// The whole chain of causes, without the address.
fn unreachable(error: reqwest::Error) -> HttpFault {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    HttpFault::Unreachable(text)
}

impl Service<RequestPacket> for BoundedHttp {
    type Response = ResponsePacket;
    type Error = TransportError;
    type Future = TransportFut<'static>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, packet: RequestPacket) -> Self::Future {
        let transport = self.clone();
        Box::pin(async move { transport.exchange(packet).await.map_err(TransportErrorKind::custom) })
    }
}
