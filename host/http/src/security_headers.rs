//! Headers that keep browsers from guessing. Rule: they are on every answer, errors included.

use super::stage::Stage;
use crate::body::{Body, RequestBody};
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{HeaderValue, Request, Response};
use std::ops::ControlFlow;

#[derive(Clone, Copy)]
pub struct SecurityHeaders;

impl Stage for SecurityHeaders {
    type Note = ();

    fn admit(&self, _: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        ControlFlow::Continue(())
    }

    fn finish(&self, (): (), response: &mut Response<Body>) {
        response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
}
