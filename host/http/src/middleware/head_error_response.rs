//! Responds to requests whose head was refused before hyper saw it. Rule: the status is a 4xx, and the connection ends,
//! because the start of the next request is unknown.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use crate::connection::{ConnectionInfo, HeadError, Tarpit};
use crate::problem::response_from;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use std::ops::ControlFlow;

#[derive(Clone, Copy)]
pub(crate) struct HeadErrorResponse;

impl Middleware for HeadErrorResponse {
    type State = ();

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let Some(error) = request.extensions().get::<ConnectionInfo>().and_then(|info| info.head_error) else {
            return ControlFlow::Continue(());
        };
        metrics::counter!("gateway_http_heads_refused_total", "code" => error.code()).increment(1);
        let mut response = response_from(&error.problem());
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        // A client that was slow has waited already.
        if !matches!(error, HeadError::Timeout | HeadError::Incomplete) {
            response.extensions_mut().insert(Tarpit);
        }
        ControlFlow::Break(response)
    }

    fn on_response(&self, (): (), _: &mut Response<Body>) {}
}
