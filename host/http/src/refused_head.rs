//! Answers requests whose head was refused before hyper saw it. Rule: 4xx, and the connection ends, as nobody knows where
//! the next request would begin.

use super::peer::Peer;
use super::stage::Stage;
use super::tarpit::Tarpit;
use super::violation::Violation;
use crate::body::{Body, RequestBody};
use crate::problem::answer;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use std::ops::ControlFlow;

#[derive(Clone, Copy)]
pub struct RefusedHead;

impl Stage for RefusedHead {
    type Note = ();

    fn admit(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let Some(violation) = request.extensions().get::<Peer>().and_then(|peer| peer.violation) else {
            return ControlFlow::Continue(());
        };
        metrics::counter!("http_heads_refused_total", "code" => violation.code()).increment(1);
        let mut response = answer(&violation.problem());
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        // A client that was slow has waited already.
        if !matches!(violation, Violation::TooSlow | Violation::Unfinished) {
            response.extensions_mut().insert(Tarpit);
        }
        ControlFlow::Break(response)
    }

    fn finish(&self, (): (), _: &mut Response<Body>) {}
}
