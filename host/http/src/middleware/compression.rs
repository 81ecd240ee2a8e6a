//! Compresses responses with gzip or brotli. Rule: event streams (an encoder would delay their events), small responses
//! and compressed ones stay as they are, and the status is always the handler's.

use crate::body::{Body, RequestBody};
use crate::http_service::HttpService;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{Extensions, HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::BodyExt as _;
use std::convert::Infallible;
use std::future::ready;
use tower::util::MapResponse;
use tower::{Layer, ServiceExt, service_fn};
use tower_http::compression::predicate::{And, Predicate, SizeAbove};
use tower_http::compression::{Compression, CompressionBody};

/// Below this size the `content-encoding` header costs what the compression saves.
pub const COMPRESSED_MIN_BYTES: u64 = 1024;

type CompressWhen = And<SizeAbove, fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool>;
type CompressionService<S> =
    MapResponse<Compression<S, CompressWhen>, fn(Response<CompressionBody<Body>>) -> Response<Body>>;

#[derive(Clone, Copy)]
pub(crate) struct CompressionLayer {
    pub enabled: bool,
}

impl<S: HttpService> Layer<S> for CompressionLayer {
    type Service = CompressionService<S>;

    fn layer(&self, inner: S) -> CompressionService<S> {
        let is_compressible = if self.enabled { is_text } else { never };
        let predicate = SizeAbove::new(COMPRESSED_MIN_BYTES).and(is_compressible as fn(_, _, &_, &_) -> _);
        Compression::new(inner).compress_when(predicate).map_response(into_body as fn(_) -> _)
    }
}

fn never(_: StatusCode, _: Version, _: &HeaderMap, _: &Extensions) -> bool {
    false
}

fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let Some(content_type) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let structured = [
        "application/json",
        "application/javascript",
        "application/xml",
        "application/x-ndjson",
        "application/yaml",
        "application/wasm",
    ];
    let is_text = media_type.starts_with("text/") && media_type != "text/event-stream";
    is_text || structured.contains(&&*media_type) || media_type.ends_with("+json") || media_type.ends_with("+xml")
}

/// The headers and the whole body of a 200 as a client with this `accept-encoding` gets it, to be kept and sent again;
/// `None` when it is not compressed for that client.
pub async fn compressed(accepted: &HeaderValue, headers: &HeaderMap, body: &Bytes) -> Option<(HeaderMap, Bytes)> {
    let (headers, body) = (headers.clone(), body.clone());
    let respond = service_fn(move |_: Request<RequestBody>| {
        let mut response = Response::new(Body::Full(body.clone()));
        *response.headers_mut() = headers.clone();
        ready(Ok::<_, Infallible>(response))
    });
    let mut request = Request::new(RequestBody::from(Bytes::new()));
    request.headers_mut().insert(ACCEPT_ENCODING, accepted.clone());
    let Ok(response) = CompressionLayer { enabled: true }.layer(respond).oneshot(request).await;
    let (head, body) = response.into_parts();
    let whole = body.collect().await.ok()?.to_bytes();
    head.headers.contains_key(CONTENT_ENCODING).then_some((head.headers, whole))
}

/// In the extensions of a response that was compressed before, by [`compressed`]: its body is sent as it is.
#[derive(Clone, Copy)]
pub struct Precompressed;

/// Back to the one body type. A response that is not compressed here keeps its body unboxed.
fn into_body(mut response: Response<CompressionBody<Body>>) -> Response<Body> {
    if !response.headers().contains_key(CONTENT_ENCODING) || response.extensions().get::<Precompressed>().is_some() {
        return response.map(CompressionBody::into_inner);
    }
    weaken_etag(response.headers_mut());
    response.map(Body::boxed)
}

/// A strong tag would promise the same bytes as the uncompressed response has.
fn weaken_etag(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\"")) else { return };
    if let Ok(weak) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()) {
        headers.insert(ETAG, weak);
    }
}
