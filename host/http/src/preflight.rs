//! CORS preflight: a browser asks before it sends. Rule: every method and every well-formed header is allowed, since the
//! gateway knows no cookies; whether a route accepts them is the route's own word.

use super::stage::Stage;
use crate::body::{Body, RequestBody};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use std::ops::ControlFlow;

const METHODS: &str = "GET,HEAD,PUT,PATCH,POST,DELETE";
/// Chromium believes no more than two hours.
const MAX_AGE_S: &str = "7200";
/// Header names that one preflight may ask for; the rest is not reflected.
const REQUESTED_MAX: usize = 64;
const REQUESTED_BYTES_MAX: usize = 4096;

#[derive(Clone, Copy)]
pub struct Preflight {
    pub enabled: bool,
}

impl Stage for Preflight {
    type Note = ();

    fn admit(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let asks = request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if self.enabled && asks { ControlFlow::Break(allow(request.headers())) } else { ControlFlow::Continue(()) }
    }

    fn finish(&self, (): (), _: &mut Response<Body>) {}
}

fn allow(request: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE_S));
    headers.insert(VARY, HeaderValue::from_static("access-control-request-headers"));
    if let Some(requested) = reflected(request) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, requested);
    }
    response
}

/// The requested names that are names. A wildcard would not cover `Authorization`, so they are reflected.
fn reflected(request: &HeaderMap) -> Option<HeaderValue> {
    let requested = request.get(ACCESS_CONTROL_REQUEST_HEADERS)?.to_str().ok()?;
    let requested = requested.get(..REQUESTED_BYTES_MAX).unwrap_or(requested);
    let names = requested.split(',').filter_map(|name| HeaderName::try_from(name.trim()).ok());
    let names: Vec<_> = names.take(REQUESTED_MAX).collect();
    let list = names.iter().map(HeaderName::as_str).collect::<Vec<_>>().join(",");
    if list.is_empty() { None } else { HeaderValue::try_from(list).ok() }
}
