//! The connection's bytes as hyper, or an event stream, sees them. Rule: what is written passes unchanged, and a shutdown never resets a
//! connection whose client is still sending.

use super::connection_state::ConnectionState;
use super::framing::HeadLimits;
use super::lingering_close::LingeringClose;
use super::request_reader::RequestReader;
use super::transport::Transport;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How long a client may continue to send after it got a response to an incomplete request.
const LINGER: Duration = Duration::from_secs(10);

pub(crate) struct Socket<T> {
    transport: T,
    request_reader: RequestReader,
    state: Arc<ConnectionState>,
    lingering_close: Option<LingeringClose>,
}

impl<T: Transport> Socket<T> {
    pub(crate) fn new(transport: T, head_limits: HeadLimits, state: Arc<ConnectionState>) -> Self {
        Self { transport, request_reader: RequestReader::new(head_limits), state, lingering_close: None }
    }

    /// Reads until a whole head is there; false when the client has closed its side.
    pub(super) fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        self.request_reader.poll_head(&mut self.transport, &self.state, cx)
    }

    /// Ready when the client has closed its side. What it sends meanwhile is kept, up to one head.
    pub(super) fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.request_reader.has_checked() {
            return Poll::Pending;
        }
        match ready!(self.poll_head(cx))? {
            true => Poll::Pending,
            false => Poll::Ready(Ok(())),
        }
    }

    /// Whether the client began with the preface of HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        self.request_reader.is_http2()
    }

    /// These bytes were read from here, and are read again.
    pub(super) fn put_back(&mut self, bytes: &[u8]) {
        self.request_reader.put_back(bytes);
    }
}

impl<T: Transport> AsyncRead for Socket<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.request_reader.poll_read(&mut this.transport, &this.state, cx, buffer)
    }
}

impl<T: Transport> AsyncWrite for Socket<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.state.set_flushed(false);
        Pin::new(&mut self.transport).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.state.set_flushed(false);
        Pin::new(&mut self.transport).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.transport).poll_flush(cx))?;
        self.state.set_flushed(true);
        Poll::Ready(Ok(()))
    }

    /// Closing a socket with unread bytes resets it, and the reset can overtake the response (a 413, say) on its way to
    /// a client that is still sending. So these bytes are read and discarded for a moment.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // The connection is over: whoever shuts it down keeps it to the end.
        this.state.set_flushed(false);
        if this.lingering_close.is_none() {
            ready!(Pin::new(&mut this.transport).poll_shutdown(cx))?;
            if !this.request_reader.is_request_incomplete() {
                return Poll::Ready(Ok(()));
            }
        }
        let lingering_close = this.lingering_close.get_or_insert_with(|| LingeringClose::new(LINGER));
        lingering_close.poll(&mut this.transport, cx).map(Ok)
    }
}
