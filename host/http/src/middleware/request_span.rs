//! The span of a request, from its head to the head of its response, for a collector of traces. Rule: without an exporter a
//! request looks at one static and goes on.

use super::middleware_layer::Middleware;
use super::request_id::RequestId;
use crate::body::{Body, RequestBody};
use gateway_telemetry::{Span, SpanScope};
use http::{Request, Response};
use std::ops::ControlFlow;

/// Request extension, while spans are made.
#[derive(Clone, Debug)]
pub struct RequestSpan(pub SpanScope);

#[derive(Clone, Copy)]
pub(super) struct TraceRequest;

impl Middleware for TraceRequest {
    // Boxed: the future of every request has a place for it.
    type State = Option<Box<Span>>;

    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, Option<Box<Span>>> {
        let Some(span) = Span::of_request(request.method(), request.headers()) else {
            return ControlFlow::Continue(None);
        };
        if let Some(RequestId(id)) = request.extensions().get() {
            span.set("gateway.request_id", id.to_string());
        }
        request.extensions_mut().insert(RequestSpan(span.scope()));
        ControlFlow::Continue(Some(Box::new(span)))
    }

    fn on_response(&self, span: Option<Box<Span>>, response: &mut Response<Body>) {
        let Some(span) = span else { return };
        let status = response.status();
        span.set("http.response.status_code", i64::from(status.as_u16()));
        if status.is_server_error() {
            span.fail("server_error");
        }
    }
}
