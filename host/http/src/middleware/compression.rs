//! Compresses responses with gzip or brotli. Rule: event streams (an encoder would delay their events), small responses
//! and compressed ones stay as they are, and the status is always the handler's.

use crate::body::Body;
use crate::http_service::HttpService;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{Extensions, HeaderMap, HeaderValue, Response, StatusCode, Version};
use tower::util::MapResponse;
use tower::{Layer, ServiceExt};
use tower_http::compression::predicate::{And, Predicate, SizeAbove};
use tower_http::compression::{Compression, CompressionBody};

/// Below this size the `content-encoding` header costs what the compression saves.
const COMPRESSED_MIN_BYTES: u64 = 1024;

type CompressWhen = And<SizeAbove, fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool>;
type CompressionService<S> =
    MapResponse<Compression<S, CompressWhen>, fn(Response<CompressionBody<Body>>) -> Response<Body>>;

#[derive(Clone, Copy)]
pub struct CompressionLayer {
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

/// Back to the one body type. A response that was not compressed keeps its body unboxed.
fn into_body(mut response: Response<CompressionBody<Body>>) -> Response<Body> {
    if !response.headers().contains_key(CONTENT_ENCODING) {
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
