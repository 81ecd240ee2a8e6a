//! The shape of a middleware: two plain functions, one before and one after the inner service. Rule: a stage never waits
//! and never boxes; what must wait is a tower service of its own.

use crate::body::{Body, RequestBody};
use http::{Request, Response};
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower::{Layer, Service};

/// A service of the house: takes a request, always answers.
pub trait HttpService:
    Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + 'static
{
}

impl<S> HttpService for S where
    S: Service<Request<RequestBody>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>
        + Clone
        + Send
        + 'static
{
}

pub trait Stage: Clone + Send + 'static {
    /// What the way in tells the way out.
    type Note: Send + 'static;

    /// The way in: lets the request pass, or breaks with an answer of its own.
    fn admit(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, Self::Note>;

    /// The way out; not for answers that this stage's own `admit` gave.
    fn finish(&self, note: Self::Note, response: &mut Response<Body>);
}

/// Puts a [`Stage`] around a service.
#[derive(Clone)]
pub struct StageLayer<T>(pub T);

impl<T: Stage, S> Layer<S> for StageLayer<T> {
    type Service = StageService<T, S>;

    fn layer(&self, inner: S) -> Self::Service {
        StageService { stage: self.0.clone(), inner }
    }
}

#[derive(Clone)]
pub struct StageService<T, S> {
    stage: T,
    inner: S,
}

impl<T: Stage, S: HttpService> Service<Request<RequestBody>> for StageService<T, S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = StageFuture<T, T::Note, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        match self.stage.admit(&mut request) {
            ControlFlow::Break(response) => StageFuture::Answered { response: Some(response) },
            ControlFlow::Continue(note) => {
                StageFuture::Passed { stage: self.stage.clone(), note: Some(note), inner: self.inner.call(request) }
            }
        }
    }
}

pin_project! {
    #[project = StageFutureProjection]
    pub enum StageFuture<T, N, F> {
        Answered { response: Option<Response<Body>> },
        Passed { stage: T, note: Option<N>, #[pin] inner: F },
    }
}

impl<T, F> Future for StageFuture<T, T::Note, F>
where
    T: Stage,
    F: Future<Output = Result<Response<Body>, Infallible>>,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            StageFutureProjection::Answered { response } => Poll::Ready(Ok(response.take().unwrap_or_default())),
            StageFutureProjection::Passed { stage, note, inner } => {
                let Ok(mut response) = ready!(inner.poll(cx));
                if let Some(note) = note.take() {
                    stage.finish(note, &mut response);
                }
                Poll::Ready(Ok(response))
            }
        }
    }
}
