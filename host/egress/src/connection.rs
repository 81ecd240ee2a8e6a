//! One connection to a server. Whoever waits for the answer moves its bytes: no task does, which would have to be woken for each
//! request, and again for each answer.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{
        TrySendError,
        http1::{self, SendRequest},
    },
};
use hyper_util::rt::TokioIo;
use std::{
    future::poll_fn,
    io,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::client::TlsStream;

pub(super) type OutboundRequest = Request<Full<Bytes>>;
type Driver = Pin<Box<http1::Connection<TokioIo<OutboundSocket>, Full<Bytes>>>>;

pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// `None` when the connection is over.
    driver: Option<Driver>,
}

impl Connection {
    pub(super) async fn new(socket: OutboundSocket) -> hyper::Result<Self> {
        let (sender, driver) = http1::handshake(TokioIo::new(socket)).await?;
        Ok(Self { sender, driver: Some(Box::pin(driver)) })
    }

    /// Sends a request and waits for the head of its answer. The body needs the connection as well.
    pub(super) async fn exchange(
        &mut self,
        request: OutboundRequest,
    ) -> Result<Response<Incoming>, TrySendError<OutboundRequest>> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let driver = &mut self.driver;
        poll_fn(|context| {
            drive(driver, context);
            answer.as_mut().poll(context)
        })
        .await
    }

    /// Reads and writes what can be, and notices when the other side has closed it.
    pub(super) fn drive(&mut self, context: &mut Context<'_>) {
        drive(&mut self.driver, context);
    }

    /// Whether it can take a request: nothing is left of the one before, and nobody has closed it.
    pub(super) fn is_idle(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        self.driver.is_some() && self.sender.is_ready()
    }
}

/// An error of the connection reaches the request or the body that it hits.
fn drive(driver: &mut Option<Driver>, context: &mut Context<'_>) {
    if let Some(running) = driver
        && running.as_mut().poll(context).is_ready()
    {
        *driver = None;
    }
}

pub(super) enum OutboundSocket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for OutboundSocket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Tls(socket) => Pin::new(socket.as_mut()).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for OutboundSocket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Self::Tls(socket) => Pin::new(socket.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write_vectored(context, parts),
            Self::Tls(socket) => Pin::new(socket.as_mut()).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.is_write_vectored(),
            Self::Tls(socket) => socket.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(context),
            Self::Tls(socket) => Pin::new(socket.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Self::Tls(socket) => Pin::new(socket.as_mut()).poll_shutdown(context),
        }
    }
}
