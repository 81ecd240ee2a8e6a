//! The bytes of a connection within TLS. Rule: the watchdog sees the progress of the socket below, because what TLS took
//! from hyper need not be on its way.

use crate::connection::{ConnectionState, ReadBudget, Transport};
use gateway_activity::Sink;
use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

pub(crate) struct TlsTransport(ReadBudget<TlsStream<WatchedStream>>);

impl TlsTransport {
    pub(crate) fn new(stream: TlsStream<WatchedStream>) -> Self {
        Self(ReadBudget(stream))
    }

    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.0.0.get_ref().1.alpn_protocol()
    }
}

impl Transport for TlsTransport {
    fn http1_sink(&self) -> Option<Weak<dyn Sink>> {
        // Bytes that are the same for all readers are encrypted for each: they take the way through hyper.
        None
    }
}

impl AsyncRead for TlsTransport {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TlsTransport {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.0).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.0).poll_shutdown(cx)
    }
}

/// The socket below TLS.
pub(crate) struct WatchedStream {
    socket: TcpStream,
    state: Arc<ConnectionState>,
}

impl WatchedStream {
    pub(crate) fn new(socket: TcpStream, state: Arc<ConnectionState>) -> Self {
        Self { socket, state }
    }

    fn watch(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.state.write_blocked(),
            Poll::Ready(_) => self.state.write_progressed(),
        }
        written
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.watch(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.watch(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
