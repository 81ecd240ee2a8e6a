//! Requests whose bytes two servers could read differently are refused. Rule: 400 and the connection ends, as nobody knows
//! where the next request would begin.

use super::peer::Peer;
use super::stage::Stage;
use crate::http::body::{Body, RequestBody};
use crate::http::problem::problem;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode};
use std::ops::ControlFlow;

#[derive(Clone, Copy)]
pub struct StrictFraming;

impl Stage for StrictFraming {
    type Note = ();

    fn admit(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, ()> {
        let Some(violation) = request.extensions().get::<Peer>().and_then(|peer| peer.violation) else {
            return ControlFlow::Continue(());
        };
        let hint = "use an HTTP library, or end each header line with CR LF and announce the body's length once";
        let mut response = problem(StatusCode::BAD_REQUEST, "bad_framing", violation.reason(), hint);
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        ControlFlow::Break(response)
    }

    fn finish(&self, (): (), _: &mut Response<Body>) {}
}
