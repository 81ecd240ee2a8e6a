//! The protocol of a connection: who reads and writes it at the moment. Rule: hyper exists only while it has something to
//! do on HTTP/1. Before the first head, while nobody asks anything, and during an event stream, the connection holds no
//! buffer.

use super::builder::Builders;
use super::connection_state::ConnectionState;
use super::event_stream_response::EventStreamResponse;
use super::handover::HandoverSlot;
use super::request_service::RequestService;
use super::socket::Socket;
use super::start_limiter::StartLimiter;
use super::transport::Transport;
use crate::http_service::HttpService;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite as _;

pub(super) type ConnectionError = Box<dyn std::error::Error + Send + Sync>;

pub(super) struct HttpConnection<T: Transport, S: HttpService> {
    phase: Phase<T, S>,
    builders: Arc<Builders>,
    state: Arc<ConnectionState>,
    handover: HandoverSlot,
    is_closing: bool,
}

type Http1<T, S> = http1::Connection<TokioIo<Socket<T>>, RequestService<S>>;
type Http2<T, S> = http2::Connection<TokioIo<Socket<T>>, RequestService<S>, TokioExecutor>;

enum Phase<T: Transport, S: HttpService> {
    AwaitHead(ConnectionParts<T, S>),
    Http1(Box<Http1<T, S>>),
    Http2(Pin<Box<Http2<T, S>>>),
    EventStream(Box<EventStreamResponse>, ConnectionParts<T, S>),
    Shutdown(Socket<T>),
    Closed,
}

/// What a connection is between: its client and the service.
struct ConnectionParts<T, S> {
    socket: Socket<T>,
    service: RequestService<S>,
}

impl<T: Transport, S: HttpService> HttpConnection<T, S> {
    pub(super) fn new(socket: Socket<T>, service: RequestService<S>, builders: Arc<Builders>) -> Self {
        let (state, handover) = (Arc::clone(&service.state), service.handover.clone());
        let phase = Phase::AwaitHead(ConnectionParts { socket, service });
        Self { phase, builders, state, handover, is_closing: false }
    }

    /// Lets the running request end, and takes no other.
    pub(super) fn graceful_shutdown(&mut self) {
        self.is_closing = true;
        match &mut self.phase {
            Phase::Http1(connection) => Pin::new(&mut **connection).graceful_shutdown(),
            Phase::Http2(connection) => connection.as_mut().graceful_shutdown(),
            _ => {}
        }
    }

    /// Gives up hyper's buffers if no request runs.
    pub(super) fn release_buffers(&mut self) {
        if self.state.is_idle() && self.state.is_flushed() && matches!(self.phase, Phase::Http1(_)) {
            self.phase = match std::mem::replace(&mut self.phase, Phase::Closed) {
                Phase::Http1(connection) => Phase::AwaitHead(leave_hyper(*connection)),
                other => other,
            };
        }
    }

    fn start_hyper(&self, parts: ConnectionParts<T, S>) -> Phase<T, S> {
        let ConnectionParts { socket, mut service } = parts;
        if socket.is_http2() {
            service.start_limiter = Some(StartLimiter::new());
            Phase::Http2(Box::pin(self.builders.http2.serve_connection(TokioIo::new(socket), service)))
        } else {
            Phase::Http1(Box::new(self.builders.http1.serve_connection(TokioIo::new(socket), service)))
        }
    }

    /// The next phase, when this one has ended.
    fn poll_phase(&mut self, cx: &mut Context<'_>) -> Poll<Result<Phase<T, S>, ConnectionError>> {
        match &mut self.phase {
            Phase::AwaitHead(_) if self.is_closing => {}
            Phase::AwaitHead(parts) => {
                let has_head = ready!(parts.socket.poll_head(cx))?;
                self.is_closing |= !has_head;
            }
            Phase::Http1(connection) => {
                if let Poll::Ready(ended) = Pin::new(&mut **connection).poll(cx) {
                    return Poll::Ready(ended.map(|()| Phase::Closed).map_err(Into::into));
                }
                // A response before this one has to leave hyper first.
                if self.handover.is_empty() || !self.state.is_flushed() {
                    return Poll::Pending;
                }
            }
            Phase::Http2(connection) => {
                return connection.as_mut().poll(cx).map(|ended| ended.map(|()| Phase::Closed).map_err(Into::into));
            }
            Phase::EventStream(response, parts) => {
                ready!(response.poll(&mut parts.socket, cx))?;
                self.is_closing |= !response.keep_alive();
            }
            Phase::Shutdown(socket) => {
                ready!(Pin::new(socket).poll_shutdown(cx))?;
                return Poll::Ready(Ok(Phase::Closed));
            }
            Phase::Closed => return Poll::Ready(Ok(Phase::Closed)),
        }
        let ended = std::mem::replace(&mut self.phase, Phase::Closed);
        Poll::Ready(Ok(self.phase_after(ended)))
    }

    fn phase_after(&self, ended: Phase<T, S>) -> Phase<T, S> {
        match ended {
            Phase::AwaitHead(parts) if self.is_closing => Phase::Shutdown(parts.socket),
            Phase::AwaitHead(parts) => self.start_hyper(parts),
            Phase::Http1(connection) => match self.handover.take() {
                Some(mut handover) => {
                    handover.keep_alive &= !self.is_closing;
                    Phase::EventStream(Box::new(EventStreamResponse::new(*handover)), leave_hyper(*connection))
                }
                None => Phase::Http1(connection),
            },
            Phase::EventStream(_, parts) if self.is_closing => Phase::Shutdown(parts.socket),
            Phase::EventStream(_, parts) => Phase::AwaitHead(parts),
            other => other,
        }
    }
}

/// Takes the connection back, with the bytes that hyper has read and not used.
fn leave_hyper<T: Transport, S: HttpService>(connection: Http1<T, S>) -> ConnectionParts<T, S> {
    let parts = connection.into_parts();
    let mut socket = parts.io.into_inner();
    socket.put_back(&parts.read_buf);
    ConnectionParts { socket, service: parts.service }
}

// Nothing in it is pinned but what is boxed.
impl<T: Transport, S: HttpService> Unpin for HttpConnection<T, S> {}

impl<T: Transport, S: HttpService> Future for HttpConnection<T, S> {
    type Output = Result<(), ConnectionError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            this.phase = ready!(this.poll_phase(cx))?;
            if matches!(this.phase, Phase::Closed) {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
