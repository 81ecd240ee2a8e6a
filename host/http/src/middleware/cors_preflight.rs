//! CORS preflight: the request that a browser sends before a page's own. Rule: every method and every well-formed
//! header is allowed, because the gateway uses no cookies; each route decides which it accepts.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use std::ops::ControlFlow;

const METHODS: &str = "GET,HEAD,PUT,PATCH,POST,DELETE";
/// Chromium's maximum is two hours.
const MAX_AGE_S: &str = "7200";
/// Header names that one preflight may request; the response does not list further ones.
const REQUESTED_MAX: usize = 64;
const REQUESTED_BYTES_MAX: usize = 4096;

#[derive(Clone, Copy)]
pub(crate) struct CorsPreflight {
    pub enabled: bool,
}

impl Middleware for CorsPreflight {
    type State = ();

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let headers = request.headers();
        let is_preflight = request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if self.enabled && is_preflight {
            ControlFlow::Break(preflight_response(headers))
        } else {
            ControlFlow::Continue(())
        }
    }

    fn on_response(&self, (): (), _: &mut Response<Body>) {}
}

fn preflight_response(request: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::Empty);
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE_S));
    headers.insert(VARY, HeaderValue::from_static("access-control-request-headers"));
    if let Some(allowed) = allowed_headers(request) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    response
}

/// The requested names that are valid. A wildcard would not cover `Authorization`, so the response lists each name.
fn allowed_headers(request: &HeaderMap) -> Option<HeaderValue> {
    let requested = request.get(ACCESS_CONTROL_REQUEST_HEADERS)?.to_str().ok()?;
    let requested = requested.get(..REQUESTED_BYTES_MAX).unwrap_or(requested);
    let names = requested.split(',').filter_map(|name| HeaderName::try_from(name.trim()).ok());
    let names: Vec<_> = names.take(REQUESTED_MAX).collect();
    let list = names.iter().map(HeaderName::as_str).collect::<Vec<_>>().join(",");
    if list.is_empty() { None } else { HeaderValue::try_from(list).ok() }
}
