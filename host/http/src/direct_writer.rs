//! The way out of a connection, which hyper shares with the streams of HTTP/1.1. Rule: what hyper holds is never overtaken,
//! and a chunk that was begun is finished before anything else is written.
//!
//! An event goes to thousands of readers at once. Through hyper each costs a task's wake-up and the walk through all layers;
//! a chunk whose bytes are the same for all of them is better handed to their sockets one after the other.

use super::vitals::Vitals;
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
pub struct DirectWriter {
    out: Mutex<Out>,
    vitals: Arc<Vitals>,
}

#[derive(Debug)]
struct Out {
    half: OwnedWriteHalf,
    /// hyper has flushed since it last got something to write.
    is_flushed: bool,
    /// The rest of a chunk for which the socket had no room.
    unsent: Bytes,
}

impl DirectWriter {
    pub fn new(half: OwnedWriteHalf, vitals: Arc<Vitals>) -> Arc<Self> {
        Arc::new(Self { out: Mutex::new(Out { half, is_flushed: false, unsent: Bytes::new() }), vitals })
    }

    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(cx, |half, cx| half.poll_write(cx, bytes))
    }

    pub fn poll_write_vectored(&self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.write(cx, |half, cx| half.poll_write_vectored(cx, slices))
    }

    fn write(
        &self,
        cx: &mut Context<'_>,
        act: impl FnOnce(Pin<&mut OwnedWriteHalf>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut out = self.out.lock();
        ready!(self.poll_unsent(&mut out, cx))?;
        out.is_flushed = false;
        let written = act(Pin::new(&mut out.half), cx);
        self.watch(&written);
        written
    }

    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut out = self.out.lock();
        if !out.unsent.is_empty() {
            ready!(self.poll_unsent(&mut out, cx))?;
            // The stream that unsent it may go on.
            cx.waker().wake_by_ref();
        }
        out.is_flushed = true;
        Pin::new(&mut out.half).poll_flush(cx)
    }

    pub fn poll_shutdown(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut out = self.out.lock();
        ready!(self.poll_unsent(&mut out, cx))?;
        Pin::new(&mut out.half).poll_shutdown(cx)
    }

    fn poll_unsent(&self, out: &mut Out, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !out.unsent.is_empty() {
            let written = Pin::new(&mut out.half).poll_write(cx, &out.unsent);
            self.watch(&written);
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => out.unsent.advance(written),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn watch(&self, written: &Poll<io::Result<usize>>) {
        match written {
            Poll::Pending => self.vitals.write_blocked(),
            Poll::Ready(_) => self.vitals.write_moved(),
        }
    }
}

impl Sink for DirectWriter {
    fn send(&self, chunk: &Bytes) -> WriteOutcome {
        let mut out = self.out.lock();
        if !out.is_flushed || !out.unsent.is_empty() {
            return WriteOutcome::Busy;
        }
        let written = match out.half.try_write(chunk) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            // hyper will meet the same error, and ends the connection.
            Err(_) => return WriteOutcome::Busy,
        };
        if written == chunk.len() {
            return WriteOutcome::Complete;
        }
        self.vitals.write_blocked();
        out.unsent = chunk.slice(written..);
        WriteOutcome::Partial
    }

    fn leave_to_hyper(&self) {
        self.out.lock().is_flushed = false;
    }

    fn has_unsent(&self) -> bool {
        !self.out.lock().unsent.is_empty()
    }
}
