//! The writer of a connection, shared between its task and the topics of its event stream. Rule: bytes that the task has
//! yet to write are never overtaken, and a chunk that was partly written is completed before anything else is written.
//!
//! An event goes to thousands of readers at once. Through its task each reader costs a wake-up and a pass through all
//! layers. A chunk with the same bytes for all readers is cheaper when it is written to their sockets one after the
//! other.

use super::connection_state::ConnectionState;
use bytes::{Buf, Bytes};
use gateway_activity::{Sink, WriteOutcome};
use parking_lot::Mutex;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio::net::tcp::OwnedWriteHalf;

#[derive(Debug)]
pub(crate) struct DirectWriter {
    output: Mutex<Output>,
    state: Arc<ConnectionState>,
}

#[derive(Debug)]
struct Output {
    socket: OwnedWriteHalf,
    /// The task has flushed since it last had something to write.
    is_flushed: bool,
    /// The rest of a chunk for which the socket had no room.
    unsent: Bytes,
}

impl DirectWriter {
    pub(crate) fn new(socket: OwnedWriteHalf, state: Arc<ConnectionState>) -> Arc<Self> {
        Arc::new(Self { output: Mutex::new(Output { socket, is_flushed: false, unsent: Bytes::new() }), state })
    }

    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, |socket, cx| socket.poll_write(cx, bytes))
    }

    pub(crate) fn poll_write_vectored(&self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, |socket, cx| socket.poll_write_vectored(cx, slices))
    }

    fn poll_write_with(
        &self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut OwnedWriteHalf>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut output = self.output.lock();
        ready!(self.poll_unsent(&mut output, cx))?;
        output.is_flushed = false;
        let written = write(Pin::new(&mut output.socket), cx);
        self.record_progress(&written);
        written
    }

    pub(crate) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut output = self.output.lock();
        if !output.unsent.is_empty() {
            ready!(self.poll_unsent(&mut output, cx))?;
            // The stream that this chunk came from may continue.
            cx.waker().wake_by_ref();
        }
        output.is_flushed = true;
        Pin::new(&mut output.socket).poll_flush(cx)
    }

    pub(crate) fn poll_shutdown(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut output = self.output.lock();
        ready!(self.poll_unsent(&mut output, cx))?;
        Pin::new(&mut output.socket).poll_shutdown(cx)
    }

    fn poll_unsent(&self, output: &mut Output, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !output.unsent.is_empty() {
            let written = Pin::new(&mut output.socket).poll_write(cx, &output.unsent);
            self.record_progress(&written);
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => output.unsent.advance(written),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn record_progress(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Pending => self.state.write_blocked(),
            Poll::Ready(_) => self.state.write_progressed(),
        }
    }
}

impl Sink for DirectWriter {
    fn send(&self, chunk: &Bytes) -> WriteOutcome {
        let mut output = self.output.lock();
        if !output.is_flushed || !output.unsent.is_empty() {
            return WriteOutcome::Busy;
        }
        let written = match output.socket.try_write(chunk) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            // The task will get the same error, and ends the connection.
            Err(_) => return WriteOutcome::Busy,
        };
        if written == chunk.len() {
            return WriteOutcome::Complete;
        }
        self.state.write_blocked();
        output.unsent = chunk.slice(written..);
        WriteOutcome::Partial
    }

    fn leave_to_task(&self) {
        self.output.lock().is_flushed = false;
    }

    fn has_unsent(&self) -> bool {
        !self.output.lock().unsent.is_empty()
    }
}
