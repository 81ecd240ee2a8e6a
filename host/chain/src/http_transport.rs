//! One HTTP request to an RPC server. The rule: a response is read up to a limit of bytes, and errors hold no address.

use super::error::{RpcError, sanitize_line};
use alloy::rpc::json_rpc::{RequestPacket, ResponsePacket};
use gateway_telemetry::{Span, SpanKind, TRACEPARENT, current_traceparent};
use serde::de::{DeserializeOwned, IgnoredAny};
use url::Url;

/// 100,000 events are about 83 MB; the gateway requests fewer at a time.
pub(crate) const RESPONSE_BYTES_MAX: usize = 128 * 1024 * 1024;
/// What is allocated ahead because of a `Content-Length`; a larger body grows the buffer while it arrives.
const CAPACITY_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(crate) struct HttpTransport {
    pub client: reqwest::Client,
    pub url: Url,
}

impl HttpTransport {
    /// Sends the packet and parses results as `T`. A response of more bytes than `bytes_max` is not read.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        packet: &RequestPacket,
        bytes_max: usize,
    ) -> Result<ResponsePacket<T>, RpcError> {
        let span = self.span(packet);
        let result = self.exchange(packet, bytes_max, span.as_ref()).await;
        if let (Some(span), Err(_)) = (&span, &result) {
            span.fail("rpc_failed");
        }
        result
    }

    /// A step of what the request is sent for. Of the address only the host is told: the rest may hold a key.
    fn span(&self, packet: &RequestPacket) -> Option<Span> {
        let span = Span::child("rpc", SpanKind::Client)?;
        span.set("rpc.system", "jsonrpc");
        span.set("server.address", self.url.host_str().unwrap_or_default().to_owned());
        match packet {
            RequestPacket::Single(request) => span.set("rpc.method", request.method().to_owned()),
            RequestPacket::Batch(requests) => {
                span.set("rpc.batch", i64::try_from(requests.len()).unwrap_or(i64::MAX));
            }
        }
        Some(span)
    }

    async fn exchange<T: DeserializeOwned>(
        &self,
        packet: &RequestPacket,
        bytes_max: usize,
        span: Option<&Span>,
    ) -> Result<ResponsePacket<T>, RpcError> {
        let mut request = self.client.post(self.url.clone()).json(packet);
        if let Some(traceparent) = span.map_or_else(current_traceparent, Span::traceparent) {
            request = request.header(TRACEPARENT, traceparent);
        }
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let length = response.content_length().and_then(|length| usize::try_from(length).ok());
        let mut body = Vec::with_capacity(length.unwrap_or_default().min(CAPACITY_BYTES_MAX));
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if body.len() + chunk.len() > bytes_max {
                return Err(RpcError::TooLarge(bytes_max));
            }
            body.extend_from_slice(&chunk);
        }
        match parse_json(&body) {
            // Some servers send JSON-RPC errors with an HTTP error status.
            Ok(packet) => Ok(packet),
            Err(_) if !status.is_success() => Err(RpcError::Status(status.as_u16())),
            Err(error) if is_json_rpc(&body) => Err(RpcError::WrongType(sanitize_line(&error.to_string()))),
            Err(error) => Err(RpcError::InvalidJsonRpc(sanitize_line(&error.to_string()))),
        }
    }
}

/// Whether the body is JSON-RPC with results of any type.
fn is_json_rpc(body: &[u8]) -> bool {
    parse_json::<ResponsePacket<IgnoredAny>>(body).is_ok()
}

/// Checks UTF-8 once for the whole body: otherwise serde checks each of its many strings.
fn parse_json<T: DeserializeOwned>(body: &[u8]) -> serde_json::Result<T> {
    simdutf8::basic::from_utf8(body).map_or_else(|_| serde_json::from_slice(body), serde_json::from_str)
}

/// The error with all of its sources, without the address.
fn unreachable(error: reqwest::Error) -> RpcError {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    RpcError::Unreachable(sanitize_line(&text))
}
