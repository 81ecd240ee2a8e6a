//! The service that hyper calls for each request of a connection. Rule: a request counts as running from its head to
//! the last byte of its response, so that the watchdog does not close its connection.

use super::connection_info::ConnectionInfo;
use super::connection_state::{ConnectionState, RequestGuard};
use super::start_limiter::{LimitedStart, StartLimiter};
use super::tarpit::TarpitFuture;
use crate::body::{Body, RequestBody};
use crate::http_service::HttpService;
use bytes::Bytes;
use gateway_activity::Sink;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, Version};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower::ServiceExt;
use tower::util::Oneshot;

pub(crate) struct RequestService<S> {
    pub service: S,
    pub peer_ip: IpAddr,
    /// The connection's writer, where it writes past hyper.
    pub sink: Option<Weak<dyn Sink>>,
    pub state: Arc<ConnectionState>,
    pub body_timeout: Duration,
    pub tarpit: Duration,
    pub start_limiter: StartLimiter,
    /// Requests so far.
    pub count: AtomicU64,
}

impl<S: HttpService> hyper::service::Service<Request<Incoming>> for RequestService<S> {
    type Response = Response<TrackedBody>;
    type Error = Infallible;
    type Future = ResponseFuture<LimitedStart<TarpitFuture<Oneshot<S, Request<RequestBody>>>>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let number = self.count.fetch_add(1, Relaxed);
        let is_http1 = request.version() < Version::HTTP_2;
        let head_error = if is_http1 { self.state.head_error(number) } else { None };
        let mut request = request.map(|incoming| RequestBody::from_hyper(incoming, self.body_timeout));
        let sink = self.sink.as_ref().filter(|_| request.version() == Version::HTTP_11).cloned();
        request.extensions_mut().insert(ConnectionInfo { peer_ip: self.peer_ip, head_error, sink });
        let guard = Some(self.state.start_request());
        let response = TarpitFuture::new(self.service.clone().oneshot(request), self.tarpit);
        let inner = if is_http1 { LimitedStart::unlimited(response) } else { self.start_limiter.limit(response) };
        ResponseFuture { inner, guard, is_http1 }
    }
}

pin_project! {
    pub(crate) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        guard: Option<RequestGuard>,
        is_http1: bool,
    }
}

impl<F: Future<Output = Result<Response<Body>, Infallible>>> Future for ResponseFuture<F> {
    type Output = Result<Response<TrackedBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Ok(mut response) = ready!(this.inner.poll(cx));
        let guard = this.guard.take();
        // hyper closes the connection when a body was left unread. With this header the client does not send its next
        // request on a connection that closes.
        if *this.is_http1 && guard.as_ref().is_some_and(RequestGuard::body_incomplete) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Poll::Ready(Ok(response.map(|body| TrackedBody { body, _guard: guard })))
    }
}

/// A response body that holds its request's guard until its last byte is passed to hyper.
pub(crate) struct TrackedBody {
    body: Body,
    _guard: Option<RequestGuard>,
}

impl http_body::Body for TrackedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
