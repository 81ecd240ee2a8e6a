//! What carries the bytes of a connection: the socket itself, or TLS on it. Rule: the kind is chosen when the listener starts
//! and compiled into its connections, so that a plain one pays nothing for the other.

use super::connection_settings::ConnectionSettings;
use super::connection_state::ConnectionState;
use super::direct_writer::DirectWriter;
use super::read_budget::ReadBudget;
use gateway_activity::Sink;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

pub(crate) trait Transport: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Where chunks of a response of HTTP/1.1 can be written past the connection's task, if they can.
    fn http1_sink(&self) -> Option<Weak<dyn Sink>>;
}

/// Makes a transport of a socket.
pub(crate) trait MakeTransport: Clone + Send + 'static {
    type Transport: Transport;

    /// `None` when the connection is over.
    fn make_transport(
        self,
        stream: TcpStream,
        peer: IpAddr,
        settings: &ConnectionSettings,
        state: &Arc<ConnectionState>,
    ) -> impl Future<Output = Option<NewTransport<Self::Transport>>> + Send;
}

pub(crate) struct NewTransport<T> {
    pub transport: T,
    /// Over TLS the handshake decides.
    pub may_be_http2: bool,
}

/// HTTP without TLS.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl MakeTransport for Plain {
    type Transport = PlainTransport;

    async fn make_transport(
        self,
        stream: TcpStream,
        peer: IpAddr,
        settings: &ConnectionSettings,
        state: &Arc<ConnectionState>,
    ) -> Option<NewTransport<PlainTransport>> {
        settings.penalties.wait(peer, &stream, settings.timeouts.head()).await;
        Some(NewTransport { transport: PlainTransport::new(stream, Arc::clone(state)), may_be_http2: true })
    }
}

pub(crate) struct PlainTransport {
    read_half: ReadBudget<OwnedReadHalf>,
    direct_writer: Arc<DirectWriter>,
}

impl PlainTransport {
    fn new(stream: TcpStream, state: Arc<ConnectionState>) -> Self {
        let (read_half, write_half) = stream.into_split();
        Self { read_half: ReadBudget(read_half), direct_writer: DirectWriter::new(write_half, state) }
    }
}

impl Transport for PlainTransport {
    fn http1_sink(&self) -> Option<Weak<dyn Sink>> {
        Some(Arc::downgrade(&self.direct_writer) as Weak<dyn Sink>)
    }
}

impl AsyncRead for PlainTransport {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.read_half).poll_read(cx, buffer)
    }
}

impl AsyncWrite for PlainTransport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.direct_writer.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.direct_writer.poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.direct_writer.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.direct_writer.poll_shutdown(cx)
    }
}
