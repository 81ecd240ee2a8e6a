//! The bound on requests at work. Rule: above it a request is refused at once; a queue would only answer everyone late.

use super::stage::Stage;
use crate::body::{Body, RequestBody};
use crate::problem::problem;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Request, Response, StatusCode};
use std::ops::ControlFlow;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Clone)]
pub struct InFlight {
    permits: Arc<Semaphore>,
}

impl InFlight {
    pub fn new(requests_max: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(requests_max.min(Semaphore::MAX_PERMITS))) }
    }
}

impl Stage for InFlight {
    type Note = OwnedSemaphorePermit;

    fn admit(&self, _: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, OwnedSemaphorePermit> {
        match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => ControlFlow::Continue(permit),
            Err(_) => ControlFlow::Break(overloaded()),
        }
    }

    /// The place is free once the answer's head is there: streams last for hours and cost a handler nothing.
    fn finish(&self, permit: OwnedSemaphorePermit, _: &mut Response<Body>) {
        drop(permit);
    }
}

fn overloaded() -> Response<Body> {
    let message = "the gateway is at its limit of requests at a time";
    let hint = "nothing was done; repeat the request after the seconds in Retry-After";
    let mut response = problem(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message, hint);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
