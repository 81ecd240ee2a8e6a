//! The socket as hyper sees it. Rule: what hyper writes passes unchanged, and a shutdown never resets a connection
//! whose client is still sending.

use super::connection_state::ConnectionState;
use super::direct_writer::DirectWriter;
use super::framing::HeadLimits;
use super::lingering_close::LingeringClose;
use super::read_budget::ReadBudget;
use super::request_reader::RequestReader;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

/// How long a client may continue to send after it got a response to an incomplete request.
const LINGER: Duration = Duration::from_secs(10);

pub struct Socket {
    read_half: ReadBudget<OwnedReadHalf>,
    request_reader: RequestReader,
    direct_writer: Arc<DirectWriter>,
    state: Arc<ConnectionState>,
    lingering_close: Option<LingeringClose>,
}

impl Socket {
    pub fn new(stream: TcpStream, head_limits: HeadLimits, state: Arc<ConnectionState>) -> Self {
        let (read_half, write_half) = stream.into_split();
        Self {
            read_half: ReadBudget(read_half),
            request_reader: RequestReader::new(head_limits),
            direct_writer: DirectWriter::new(write_half, Arc::clone(&state)),
            state,
            lingering_close: None,
        }
    }

    pub fn direct_writer(&self) -> &Arc<DirectWriter> {
        &self.direct_writer
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.request_reader.poll_read(&mut this.read_half, &this.state, cx, buffer)
    }
}

impl AsyncWrite for Socket {
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

    /// Closing a socket with unread bytes resets it, and the reset can overtake the response (a 413, say) on its way to
    /// a client that is still sending. So these bytes are read and discarded for a moment.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.lingering_close.is_none() {
            ready!(this.direct_writer.poll_shutdown(cx))?;
            if !this.request_reader.is_request_incomplete() {
                return Poll::Ready(Ok(()));
            }
        }
        let lingering_close = this.lingering_close.get_or_insert_with(|| LingeringClose::new(LINGER));
        lingering_close.poll(&mut this.read_half, cx).map(Ok)
    }
}
