//! Turns a panic into a 500 for this one request. Rule: the text of the panic is in the log and never in the response.

use super::request_id::RequestId;
use crate::body::{Body, RequestBody};
use crate::http_service::HttpService;
use crate::problem::problem_response;
use futures_util::FutureExt;
use futures_util::future::CatchUnwind;
use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use std::any::Any;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower::{Layer, Service};

#[derive(Clone, Copy)]
pub(crate) struct CatchPanicLayer;

impl<S> Layer<S> for CatchPanicLayer {
    type Service = CatchPanic<S>;

    fn layer(&self, inner: S) -> CatchPanic<S> {
        CatchPanic { inner }
    }
}

#[derive(Clone)]
pub(crate) struct CatchPanic<S> {
    inner: S,
}

impl<S: HttpService> Service<Request<RequestBody>> for CatchPanic<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = CatchPanicFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let id = request.extensions().get::<RequestId>().cloned();
        // Unwind safe: the service and the request are dropped with the panic and not used again.
        match catch_unwind(AssertUnwindSafe(|| self.inner.call(request))) {
            Ok(inner) => CatchPanicFuture::Inner { inner: AssertUnwindSafe(inner).catch_unwind(), id },
            Err(panic) => CatchPanicFuture::Panicked { response: Some(internal_error(&*panic, id.as_ref())) },
        }
    }
}

pin_project! {
    #[project = CatchPanicFutureProjection]
    pub enum CatchPanicFuture<F> {
        Inner { #[pin] inner: CatchUnwind<AssertUnwindSafe<F>>, id: Option<RequestId> },
        Panicked { response: Option<Response<Body>> },
    }
}

impl<F: Future<Output = Result<Response<Body>, Infallible>>> Future for CatchPanicFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            CatchPanicFutureProjection::Panicked { response } => Poll::Ready(Ok(response.take().unwrap_or_default())),
            CatchPanicFutureProjection::Inner { inner, id } => match ready!(inner.poll(cx)) {
                Ok(response) => Poll::Ready(response),
                Err(panic) => Poll::Ready(Ok(internal_error(&*panic, id.as_ref()))),
            },
        }
    }
}

fn internal_error(panic: &(dyn Any + Send), id: Option<&RequestId>) -> Response<Body> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(
        request_id = id.map(|id| &*id.0),
        panic = text.unwrap_or("a value that is no text"),
        "a request panicked",
    );
    let hint = "tell the operator the x-request-id of this answer";
    problem_response(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the gateway failed on this request", hint)
}
