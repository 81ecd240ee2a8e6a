//! Rewrites an `accept-encoding` that refuses codings. The compression below would respond with 406 to a request that
//! accepts no coding, after the handler has done its work. Rule: such a request loses the header; any
//! other keeps its best coding.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use http::header::ACCEPT_ENCODING;
use http::{HeaderMap, HeaderValue, Request, Response};
use std::ops::ControlFlow;

#[derive(Clone, Copy)]
pub(crate) struct AcceptEncoding;

impl Middleware for AcceptEncoding {
    type State = ();

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let has_zero_weight =
            |value: &HeaderValue| value.as_bytes().windows(3).any(|part| part.eq_ignore_ascii_case(b"q=0"));
        if request.headers().get_all(ACCEPT_ENCODING).iter().any(has_zero_weight) {
            match accepted_coding(request.headers()) {
                Some(coding) => drop(request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static(coding))),
                None => drop(request.headers_mut().remove(ACCEPT_ENCODING)),
            }
        }
        ControlFlow::Continue(())
    }

    fn on_response(&self, (): (), _: &mut Response<Body>) {}
}

/// The preferred coding that the client names with a weight above zero.
fn accepted_coding(headers: &HeaderMap) -> Option<&'static str> {
    let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let accepts = |entry: &str, coding: &str| {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = weight.trim().trim_start_matches(['q', 'Q']).trim_start_matches('=');
        name.trim().eq_ignore_ascii_case(coding) && (weight.is_empty() || weight.parse::<f32>().is_ok_and(|q| q > 0.0))
    };
    let entries: Vec<_> = lines.flat_map(|line| line.split(',')).collect();
    ["br", "gzip"].into_iter().find(|coding| entries.iter().any(|entry| accepts(entry, coding)))
}
