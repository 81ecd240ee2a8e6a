//! Compressed answers, gzip or brotli. Rule: never an event stream (an encoder would hold back its events), never what is
//! small or compressed already, and never another status than the handler's.

use super::stage::{HttpService, Stage};
use crate::body::{Body, RequestBody};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG};
use http::{Extensions, HeaderMap, HeaderValue, Request, Response, StatusCode, Version};
use std::ops::ControlFlow;
use tower::util::MapResponse;
use tower::{Layer, ServiceExt};
use tower_http::compression::predicate::{And, Predicate, SizeAbove};
use tower_http::compression::{Compression, CompressionBody};

/// Below this the header that announces the coding eats the gain.
const COMPRESSED_MIN_BYTES: u64 = 1024;

type Worth = And<SizeAbove, fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool>;
type Compressed<S> = MapResponse<Compression<S, Worth>, fn(Response<CompressionBody<Body>>) -> Response<Body>>;

#[derive(Clone, Copy)]
pub struct CompressionLayer {
    pub enabled: bool,
}

impl<S: HttpService> Layer<S> for CompressionLayer {
    type Service = Compressed<S>;

    fn layer(&self, inner: S) -> Compressed<S> {
        let worth = if self.enabled { is_text } else { never };
        let worth = SizeAbove::new(COMPRESSED_MIN_BYTES).and(worth as fn(_, _, &_, &_) -> _);
        Compression::new(inner).compress_when(worth).map_response(unify as fn(_) -> _)
    }
}

fn never(_: StatusCode, _: Version, _: &HeaderMap, _: &Extensions) -> bool {
    false
}

fn is_text(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let Some(full) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let media = full.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let structured = [
        "application/json",
        "application/javascript",
        "application/xml",
        "application/x-ndjson",
        "application/yaml",
        "application/wasm",
    ];
    let text = media.starts_with("text/") && media != "text/event-stream";
    text || structured.contains(&&*media) || media.ends_with("+json") || media.ends_with("+xml")
}

/// Back to the one body type; an answer that was not compressed comes out as it went in.
fn unify(mut response: Response<CompressionBody<Body>>) -> Response<Body> {
    if !response.headers().contains_key(CONTENT_ENCODING) {
        return response.map(CompressionBody::into_inner);
    }
    weaken_etag(response.headers_mut());
    response.map(Body::boxed)
}

/// Compressed bytes are another representation: a strong tag would promise the same bytes.
fn weaken_etag(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(ETAG).filter(|tag| tag.as_bytes().starts_with(b"\"")) else { return };
    if let Ok(weak) = HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()) {
        headers.insert(ETAG, weak);
    }
}

/// Stands before the compression, which would turn the answer of a request that accepts no coding at all into a 406 after
/// the handler has done its work. Such a request gets what it would get without the header.
#[derive(Clone, Copy)]
pub struct AcceptableCodings;

impl Stage for AcceptableCodings {
    type Note = ();

    fn admit(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let refuses = |value: &HeaderValue| value.as_bytes().windows(3).any(|part| part.eq_ignore_ascii_case(b"q=0"));
        if request.headers().get_all(ACCEPT_ENCODING).iter().any(refuses) {
            let wanted = wanted_coding(request.headers());
            match wanted {
                Some(coding) => drop(request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(coding))),
                None => drop(request.headers_mut().remove(ACCEPT_ENCODING)),
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(&self, (): (), _: &mut Response<Body>) {}
}

/// The coding that is asked for by name and not with weight zero.
fn wanted_coding(headers: &HeaderMap) -> Option<&'static str> {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let accepts = |entry: &str, coding: &str| {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = weight.trim().trim_start_matches(['q', 'Q']).trim_start_matches('=');
        name.trim().eq_ignore_ascii_case(coding) && (weight.is_empty() || weight.parse::<f32>().is_ok_and(|q| q > 0.0))
    };
    let entries: Vec<_> = lines.flat_map(|line| line.split(',')).collect();
    ["br", "gzip"].into_iter().find(|coding| entries.iter().any(|entry| accepts(entry, coding)))
}
