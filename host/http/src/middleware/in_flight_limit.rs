//! The limit of requests in flight. Rule: above it a request is refused at once; a queue would only delay every
//! response.

use super::middleware_layer::Middleware;
use crate::body::{Body, RequestBody};
use crate::problem::problem_response;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Request, Response, StatusCode};
use std::ops::ControlFlow;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Clone)]
pub(crate) struct InFlightLimit {
    permits: Arc<Semaphore>,
}

impl InFlightLimit {
    pub(crate) fn new(requests_max: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(requests_max.min(Semaphore::MAX_PERMITS))) }
    }
}

impl Middleware for InFlightLimit {
    type State = OwnedSemaphorePermit;

    fn on_request(&self, _: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, OwnedSemaphorePermit> {
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => ControlFlow::Continue(permit),
            Err(_) => {
                metrics::counter!("gateway_limits_refused_total", "limit" => "requests_in_flight").increment(1);
                ControlFlow::Break(overloaded())
            }
        }
    }

    /// The permit is returned with the head of the response: streams last for hours and use no handler.
    fn on_response(&self, permit: OwnedSemaphorePermit, _: &mut Response<Body>) {
        drop(permit);
    }
}

fn overloaded() -> Response<Body> {
    let message = "the gateway is at its limit of requests at a time";
    let hint = "nothing was done; repeat the request after the seconds in Retry-After";
    let mut response = problem_response(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message, hint);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
