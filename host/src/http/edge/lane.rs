//! The way out of a connection, which hyper shares with the streams of HTTP/1.1. Rule: what hyper holds is never overtaken,
//! and a chunk that was begun is finished before anything else is written.
//!
//! An event goes to thousands of readers at once. Through hyper each costs a task's wake-up and the walk through all layers;
//! a chunk whose bytes are the same for all of them is better handed to their sockets one after the other.

use super::vitals::Vitals;
use bytes::{Buf, Bytes};
use parking_lot::Mutex;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio::net::tcp::OwnedWriteHalf;

#[derive(Debug)]
pub struct Lane {
    out: Mutex<Out>,
    vitals: Arc<Vitals>,
}

#[derive(Debug)]
struct Out {
    half: OwnedWriteHalf,
    /// hyper has flushed since it last got something to write.
    is_flushed: bool,
    /// The rest of a chunk for which the socket had no room.
    owed: Bytes,
}

/// Response extension: bytes of a body that go past hyper, counted by who sends them.
#[derive(Clone, Debug, Default)]
pub struct PastHyper(pub Arc<AtomicU64>);

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    All,
    /// The connection's task, once woken, sends the rest.
    Partly,
    /// The way is not free; nothing was taken.
    Not,
}

impl Lane {
    pub fn new(half: OwnedWriteHalf, vitals: Arc<Vitals>) -> Arc<Self> {
        Arc::new(Self { out: Mutex::new(Out { half, is_flushed: false, owed: Bytes::new() }), vitals })
    }

    /// Sends a chunk past hyper, as far as the socket takes it at once.
    pub fn send(&self, chunk: &Bytes) -> Sent {
        let mut out = self.out.lock();
        if !out.is_flushed || !out.owed.is_empty() {
            return Sent::Not;
        }
        let written = match out.half.try_write(chunk) {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            // hyper will meet the same error, and ends the connection.
            Err(_) => return Sent::Not,
        };
        if written == chunk.len() {
            return Sent::All;
        }
        self.vitals.write_blocked();
        out.owed = chunk.slice(written..);
        Sent::Partly
    }

    /// hyper is about to get something to write.
    pub fn leave_to_hyper(&self) {
        self.out.lock().is_flushed = false;
    }

    /// The rest of a chunk is on its way; the connection's task is woken when it is gone.
    pub fn is_owing(&self) -> bool {
        !self.out.lock().owed.is_empty()
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
        ready!(self.poll_owed(&mut out, cx))?;
        out.is_flushed = false;
        let written = act(Pin::new(&mut out.half), cx);
        self.watch(&written);
        written
    }

    pub fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut out = self.out.lock();
        if !out.owed.is_empty() {
            ready!(self.poll_owed(&mut out, cx))?;
            // The stream that owed it may go on.
            cx.waker().wake_by_ref();
        }
        out.is_flushed = true;
        Pin::new(&mut out.half).poll_flush(cx)
    }

    pub fn poll_shutdown(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut out = self.out.lock();
        ready!(self.poll_owed(&mut out, cx))?;
        Pin::new(&mut out.half).poll_shutdown(cx)
    }

    fn poll_owed(&self, out: &mut Out, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !out.owed.is_empty() {
            let written = Pin::new(&mut out.half).poll_write(cx, &out.owed);
            self.watch(&written);
            match ready!(written)? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => out.owed.advance(written),
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
