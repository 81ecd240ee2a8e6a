//! `HEAD`: the response of `GET` without its body. Rule: handlers respond as for `GET`; the length stays, the bytes are
//! dropped. hyper does this for HTTP/1 only; over HTTP/2 it would send the body.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use http::header::{CONTENT_LENGTH, Entry};
use http::{HeaderValue, Method, Request, Response};
use http_body::Body as _;
use std::ops::ControlFlow;

#[derive(Clone, Copy)]
pub(crate) struct HeadMethod;

impl Middleware for HeadMethod {
    type State = bool;

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, bool> {
        ControlFlow::Continue(request.method() == Method::HEAD)
    }

    fn on_response(&self, is_head: bool, response: &mut Response<Body>) {
        if !is_head {
            return;
        }
        let body = std::mem::take(response.body_mut());
        let length = body.size_hint().exact().filter(|length| *length > 0);
        if let (Some(length), Entry::Vacant(entry)) = (length, response.headers_mut().entry(CONTENT_LENGTH)) {
            entry.insert(HeaderValue::from(length));
        }
    }
}
