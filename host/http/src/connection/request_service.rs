//! The service that hyper calls for each request of a connection. Rule: a request counts as running from its head to
//! the last byte of its response, so that the watchdog does not close its connection.

use super::connection_info::ConnectionInfo;
use super::connection_settings::ConnectionSettings;
use super::connection_state::{ConnectionState, RequestGuard};
use super::handover::{HandoverSlot, HandoverTerms};
use super::start_limiter::{LimitedStart, StartLimiter};
use super::tarpit::TarpitFuture;
use super::tracked_body::TrackedBody;
use crate::body::{Body, RequestBody};
use crate::http_service::HttpService;
use gateway_activity::Sink;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, Version};
use hyper::body::Incoming;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tower::ServiceExt;
use tower::util::Oneshot;

pub(crate) struct RequestService<S> {
    service: S,
    peer_ip: IpAddr,
    /// The connection's writer, where chunks can be written past its task.
    sink: Option<Weak<dyn Sink>>,
    pub state: Arc<ConnectionState>,
    body_timeout: Duration,
    tarpit: Duration,
    /// Set on HTTP/2, which has many requests at a time.
    pub start_limiter: Option<StartLimiter>,
    pub handover: HandoverSlot,
    /// Requests so far.
    count: AtomicU64,
}

impl<S> RequestService<S> {
    pub(super) fn new(
        service: S,
        peer_ip: IpAddr,
        sink: Option<Weak<dyn Sink>>,
        state: Arc<ConnectionState>,
        settings: &ConnectionSettings,
    ) -> Self {
        let ConnectionSettings { body_timeout, tarpit, .. } = *settings;
        let handover = HandoverSlot::default();
        Self { service, peer_ip, sink, state, body_timeout, tarpit, start_limiter: None, handover, count: 0.into() }
    }
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
        let handover = HandoverTerms::of(&request).map(|terms| (terms, self.handover.clone()));
        let guard = Some(self.state.start_request());
        let response = TarpitFuture::new(self.service.clone().oneshot(request), self.tarpit);
        let inner = match &self.start_limiter {
            Some(limiter) => limiter.limit(response),
            None => LimitedStart::unlimited(response),
        };
        ResponseFuture { inner, guard, is_http1, handover }
    }
}

pin_project! {
    pub(crate) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        guard: Option<RequestGuard>,
        is_http1: bool,
        handover: Option<(HandoverTerms, HandoverSlot)>,
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
        let response = response.map(|body| TrackedBody::new(body, guard));
        match this.handover.take().filter(|_| HandoverTerms::take(&response)) {
            None => Poll::Ready(Ok(response)),
            Some((terms, slot)) => {
                // The connection looks into the slot after each poll of hyper, and drops this future with it.
                slot.put(terms.hand_over(response));
                Poll::Pending
            }
        }
    }
}
