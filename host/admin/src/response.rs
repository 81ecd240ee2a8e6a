//! Responses of the operator's listener. Rule: the headers of each forbid a browser to cache it, to frame it,
//! and to load or run anything but the page's own style and script.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use serde::Serialize;
use serde_json::json;

pub(crate) type AdminResponse = Response<Full<Bytes>>;

const HEADERS: [(header::HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

pub(crate) fn text(status: StatusCode, body: impl Into<Bytes>) -> AdminResponse {
    typed(status, "text/plain; charset=utf-8", body)
}

pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> AdminResponse {
    typed(status, "application/json", serde_json::to_vec(value).unwrap_or_default())
}

/// The same shape as on the public listener.
pub(crate) fn error(status: StatusCode, code: &str, error: &str, hint: &str) -> AdminResponse {
    json(status, &json!({ "error": error, "code": code, "hint": hint }))
}

pub(crate) fn typed(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> AdminResponse {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
