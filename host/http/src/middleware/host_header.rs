//! Which host a request is for. Rule: a request names exactly one host, or it gets 400 (RFC 9112 §3.2, RFC 9113
//! §8.3.1). Below this layer the `Host` header is present and correct on every request, except on HTTP/1.0.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use crate::problem::problem_response;
use http::header::HOST;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Method, Request, Response, StatusCode, Version};
use std::ops::ControlFlow;

#[derive(Clone, Copy)]
pub(crate) struct HostHeader;

impl Middleware for HostHeader {
    type State = ();

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        match normalize_host(request) {
            Ok(()) => ControlFlow::Continue(()),
            Err(message) => {
                let hint = "send one Host header that names this gateway";
                ControlFlow::Break(problem_response(StatusCode::BAD_REQUEST, "bad_host", message, hint))
            }
        }
    }

    fn on_response(&self, (): (), _: &mut Response<Body>) {}
}

fn normalize_host(request: &mut Request<RequestBody>) -> Result<(), &'static str> {
    if request.method() == Method::CONNECT || !is_path(request.uri().path()) {
        return Err("the request target must be a path of this gateway; it is no proxy");
    }
    // On HTTP/1 the check of the head has refused it.
    if request.uri().scheme().is_some_and(|scheme| *scheme != Scheme::HTTP && *scheme != Scheme::HTTPS) {
        return Err("the request's scheme is neither http nor https");
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err("the request has more than one Host header");
    }
    if host.is_some_and(|host| !is_host(host.as_bytes())) {
        return Err("the Host header names no host");
    }
    match (request.uri().authority(), host) {
        (None, Some(_)) => Ok(()),
        (None, None) if request.version() < Version::HTTP_11 => Ok(()),
        (None, None) => Err("the request has no Host header"),
        (Some(_), None) if request.version() == Version::HTTP_11 => Err("the request has no Host header"),
        (Some(authority), Some(host)) if request.version() >= Version::HTTP_2 && !is_same_host(host, authority) => {
            Err("the Host header contradicts :authority")
        }
        (Some(authority), _) => {
            // The host of an absolute target takes precedence over the Host header.
            let host = host_value(authority)?;
            request.headers_mut().insert(HOST, host);
            Ok(())
        }
    }
}

fn is_path(target: &str) -> bool {
    target.starts_with('/') || target == "*"
}

fn is_same_host(host: &HeaderValue, authority: &Authority) -> bool {
    host.as_bytes().eq_ignore_ascii_case(authority.as_str().as_bytes())
}

fn host_value(authority: &Authority) -> Result<HeaderValue, &'static str> {
    let text = authority.as_str();
    let value = if is_host(text.as_bytes()) { HeaderValue::from_str(text).ok() } else { None };
    value.ok_or("the request target names no host")
}

/// `uri-host [":" port]`, without user information.
fn is_host(text: &[u8]) -> bool {
    let (name, port) = match text.iter().rposition(|byte| *byte == b':') {
        Some(colon) if !text.ends_with(b"]") => (&text[..colon], &text[colon + 1..]),
        _ => (text, &[][..]),
    };
    let is_port = port.len() <= 5 && port.iter().all(u8::is_ascii_digit);
    is_port && (is_ip_literal(name) || is_registered_name(name))
}

fn is_ip_literal(name: &[u8]) -> bool {
    let address = name.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    address.is_some_and(|ip| std::str::from_utf8(ip).is_ok_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok()))
}

fn is_registered_name(name: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(byte);
    !name.is_empty() && name.len() <= 255 && name.iter().all(allowed)
}
