//! One connection from its first byte to its last. Rule: it ends by itself, by the watch, or by the gateway's stop; in each
//! case a request under way is finished if time allows.

use super::direct_writer::DirectWriter;
use super::framing::Bounds;
use super::peer::Peer;
use super::protocol;
use super::socket::Socket;
use super::stage::HttpService;
use super::tarpit::{Penalties, Tarpitted};
use super::turns::{Begun, Queue};
use super::vitals::{Cut, Patience, RunningRequest, Verdict, Vitals};
use crate::body::{Body, RequestBody};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{Fuse, FusedFuture};
use gateway_activity::Sink;
use gateway_config::HttpConfig;
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, Version};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use tower::util::Oneshot;

/// Time for a connection that is told to close to do so.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What all connections share.
pub struct Terms {
    builder: Builder<TokioExecutor>,
    bounds: Bounds,
    patience: Patience,
    body_timeout: Duration,
    tarpit: Duration,
    penalties: Penalties,
}

impl Terms {
    pub fn new(settings: &HttpConfig) -> Self {
        Self {
            builder: protocol::builder(settings),
            bounds: Bounds::new(settings),
            patience: Patience::new(settings),
            body_timeout: Duration::from_millis(settings.body_timeout_ms),
            tarpit: Duration::from_millis(settings.tarpit_ms),
            penalties: Penalties::default(),
        }
    }
}

pub async fn serve<S: HttpService>(
    stream: TcpStream,
    peer: IpAddr,
    stack: S,
    terms: Arc<Terms>,
    stop: CancellationToken,
) {
    tokio::select! {
        () = terms.penalties.sit_out(peer) => {}
        () = stop.cancelled() => return,
    }
    let vitals = Arc::new(Vitals::new());
    let socket = Socket::new(stream, terms.bounds, Arc::clone(&vitals));
    let requests = Requests {
        stack,
        peer,
        direct_writer: Arc::downgrade(socket.direct_writer()),
        vitals: Arc::clone(&vitals),
        body_timeout: terms.body_timeout,
        tarpit: terms.tarpit,
        queue: Queue::new(),
        count: AtomicU64::new(0),
    };
    let mut connection = pin!(terms.builder.serve_connection(TokioIo::new(socket), requests));
    let mut watch = pin!(watch(&vitals, terms.patience));
    // A request whose head is arriving is as good as under way, though hyper knows nothing of it yet.
    let mut stopped = pin!(async {
        stop.cancelled().await;
        vitals.between_heads().await;
    });
    let mut last_words = pin!(Fuse::terminated());
    let mut closing = false;
    loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%peer, error = &*error as &dyn std::error::Error, "a connection ended with an error");
                    if is_misuse(&*error) {
                        terms.penalties.impose(peer, terms.tarpit);
                    }
                }
                return;
            }
            () = stopped.as_mut(), if !closing => {
                closing = true;
                connection.as_mut().graceful_shutdown();
            }
            cut = watch.as_mut(), if last_words.is_terminated() => {
                tracing::debug!(%peer, ?cut, "a connection is cut");
                match cut {
                    // Answered 408 by the next poll of the connection.
                    Cut::SlowHead if vitals.head_has_begun() => vitals.give_up_head(),
                    Cut::SlowHead | Cut::SlowReader => return,
                    // An idle HTTP/2 client is told (GOAWAY), so that it does not lose a request that it sends just now.
                    Cut::Idle => {
                        closing = true;
                        connection.as_mut().graceful_shutdown();
                    }
                }
                last_words.set(sleep(LAST_WORDS).fuse());
            }
            () = last_words.as_mut(), if !last_words.is_terminated() => return,
        }
    }
}

/// Whether the client broke the rules of HTTP/2, instead of going away.
fn is_misuse(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.downcast_ref::<h2::Error>().is_some_and(h2::Error::is_library))
}

/// Ends when the connection has to.
async fn watch(vitals: &Vitals, patience: Patience) -> Cut {
    loop {
        match vitals.verdict(patience) {
            Verdict::End(cut) => return cut,
            Verdict::LookAgainAt(at) => sleep_until(at).await,
        }
    }
}

/// The requests of one connection, handed to the stack one by one.
struct Requests<S> {
    stack: S,
    peer: IpAddr,
    direct_writer: Weak<DirectWriter>,
    vitals: Arc<Vitals>,
    body_timeout: Duration,
    tarpit: Duration,
    queue: Queue,
    count: AtomicU64,
}

impl<S: HttpService> hyper::service::Service<Request<Incoming>> for Requests<S> {
    type Response = Response<TrackedBody>;
    type Error = Infallible;
    type Future = Answering<Begun<Tarpitted<Oneshot<S, Request<RequestBody>>>>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let number = self.count.fetch_add(1, Relaxed);
        let is_http1 = request.version() < Version::HTTP_2;
        let violation = if is_http1 { self.vitals.violation_of(number) } else { None };
        let mut request = request.map(|incoming| RequestBody::from_wire(incoming, self.body_timeout));
        let sink = (request.version() == Version::HTTP_11).then(|| Weak::clone(&self.direct_writer) as Weak<dyn Sink>);
        request.extensions_mut().insert(Peer { ip: self.peer, violation, sink });
        let running = Some(self.vitals.begin_request());
        let answer = Tarpitted::new(self.stack.clone().oneshot(request), self.tarpit);
        let inner = if is_http1 { Begun::at_once(answer) } else { self.queue.begin(answer) };
        Answering { inner, running, is_http1 }
    }
}

pin_project! {
    struct Answering<F> {
        #[pin]
        inner: F,
        running: Option<RunningRequest>,
        is_http1: bool,
    }
}

impl<F: Future<Output = Result<Response<Body>, Infallible>>> Future for Answering<F> {
    type Output = Result<Response<TrackedBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Ok(mut response) = ready!(this.inner.poll(cx));
        let running = this.running.take();
        // hyper closes when a body was left unread; a client that is told so does not send its next request into the void.
        if *this.is_http1 && running.as_ref().is_some_and(RunningRequest::owes_body) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Poll::Ready(Ok(response.map(|body| TrackedBody { body, _running: running })))
    }
}

/// The answer's body, which keeps the request running until its last byte is handed over.
struct TrackedBody {
    body: Body,
    _running: Option<RunningRequest>,
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
