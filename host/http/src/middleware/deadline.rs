//! The time a handler has until the head of its response. Rule: afterwards its future is dropped and the caller gets a
//! 504; the body of a response that has started is not limited.

use crate::body::{Body, RequestBody};
use crate::http_service::HttpService;
use crate::problem::problem_response;
use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Sleep, sleep};
use tower::{Layer, Service};

#[derive(Clone, Copy)]
pub(crate) struct DeadlineLayer(pub Duration);

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Deadline<S> {
        Deadline { inner, limit: self.0 }
    }
}

#[derive(Clone)]
pub(crate) struct Deadline<S> {
    inner: S,
    limit: Duration,
}

impl<S: HttpService> Service<Request<RequestBody>> for Deadline<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = DeadlineFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        DeadlineFuture { inner: self.inner.call(request), limit: self.limit, timer: None }
    }
}

pin_project! {
    pub struct DeadlineFuture<F> {
        #[pin]
        inner: F,
        limit: Duration,
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F: Future<Output = Result<Response<Body>, Infallible>>> Future for DeadlineFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(response) = this.inner.poll(cx) {
            return Poll::Ready(response);
        }
        // A response from memory never waits, and so never creates a timer.
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(*this.limit)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Ok(timed_out(*this.limit)))
    }
}

fn timed_out(limit: Duration) -> Response<Body> {
    let message = format!("the request was given up after {} ms", limit.as_millis());
    let hint = "a write may or may not have happened: look before you repeat it";
    problem_response(StatusCode::GATEWAY_TIMEOUT, "timeout", message, hint)
}
