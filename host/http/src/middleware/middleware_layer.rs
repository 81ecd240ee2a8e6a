//! The shape of a middleware: two plain functions, one before and one after the inner service. Rule: these functions
//! never wait and never box; a layer that must wait is a tower service of its own.

use crate::body::{Body, RequestBody};
use crate::http_service::HttpService;
use http::{Request, Response};
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower::{Layer, Service};

pub(crate) trait Middleware: Clone + Send + 'static {
    /// What `on_request` passes to `on_response`.
    type State: Send + 'static;

    /// Lets the request pass, or breaks with a response of its own.
    fn on_request(&self, request: &mut Request<RequestBody>) -> ControlFlow<Response<Body>, Self::State>;

    /// Not called for a response that this middleware's own `on_request` returned.
    fn on_response(&self, state: Self::State, response: &mut Response<Body>);
}

/// Wraps a service in a [`Middleware`].
#[derive(Clone)]
pub(crate) struct MiddlewareLayer<M>(pub M);

impl<M: Middleware, S> Layer<S> for MiddlewareLayer<M> {
    type Service = MiddlewareService<M, S>;

    fn layer(&self, inner: S) -> Self::Service {
        MiddlewareService { middleware: self.0.clone(), inner }
    }
}

#[derive(Clone)]
pub(crate) struct MiddlewareService<M, S> {
    middleware: M,
    inner: S,
}

impl<M: Middleware, S: HttpService> Service<Request<RequestBody>> for MiddlewareService<M, S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = MiddlewareFuture<M, M::State, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        match self.middleware.on_request(&mut request) {
            ControlFlow::Break(response) => MiddlewareFuture::Early { response: Some(response) },
            ControlFlow::Continue(state) => MiddlewareFuture::Inner {
                middleware: self.middleware.clone(),
                state: Some(state),
                inner: self.inner.call(request),
            },
        }
    }
}

pin_project! {
    #[project = MiddlewareFutureProjection]
    pub enum MiddlewareFuture<M, T, F> {
        Early { response: Option<Response<Body>> },
        Inner { middleware: M, state: Option<T>, #[pin] inner: F },
    }
}

impl<M, F> Future for MiddlewareFuture<M, M::State, F>
where
    M: Middleware,
    F: Future<Output = Result<Response<Body>, Infallible>>,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            MiddlewareFutureProjection::Early { response } => Poll::Ready(Ok(response.take().unwrap_or_default())),
            MiddlewareFutureProjection::Inner { middleware, state, inner } => {
                let Ok(mut response) = ready!(inner.poll(cx));
                if let Some(state) = state.take() {
                    middleware.on_response(state, &mut response);
                }
                Poll::Ready(Ok(response))
            }
        }
    }
}
