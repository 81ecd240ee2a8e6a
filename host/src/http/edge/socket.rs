//! The socket as hyper sees it. Rule: what hyper writes passes unchanged and is watched, and the end is a gentle one.

use super::framing::Bounds;
use super::incoming::Incoming;
use super::lane::Lane;
use super::turns::Turns;
use super::vitals::Vitals;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::{Sleep, sleep};

/// What a client may still send, and for how long, after it was answered before its request was complete.
const LINGER_BYTES_MAX: usize = 4 * 1024 * 1024;
const LINGER: Duration = Duration::from_secs(1);

pub struct Socket {
    read: Turns<OwnedReadHalf>,
    lane: Arc<Lane>,
    incoming: Incoming,
    vitals: Arc<Vitals>,
    farewell: Option<Farewell>,
}

impl Socket {
    pub fn new(stream: TcpStream, bounds: Bounds, vitals: Arc<Vitals>) -> Self {
        let (read, write) = stream.into_split();
        let lane = Lane::new(write, Arc::clone(&vitals));
        Self { read: Turns(read), lane, incoming: Incoming::new(bounds), vitals, farewell: None }
    }

    pub fn lane(&self) -> &Arc<Lane> {
        &self.lane
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.incoming.poll_read(&mut this.read, &this.vitals, cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.lane.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.lane.poll_write_vectored(cx, slices)
    }

    /// As every TCP socket.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.lane.poll_flush(cx)
    }

    /// Closing a socket with unread bytes resets it, and the reset can overtake the answer (a 413, say) on its way to a
    /// client that is still sending. So what it sends is read and forgotten for a moment.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.farewell.is_none() {
            ready!(this.lane.poll_shutdown(cx))?;
            if !this.incoming.is_interrupted() {
                return Poll::Ready(Ok(()));
            }
        }
        let farewell = this.farewell.get_or_insert_with(Farewell::new);
        farewell.poll(&mut this.read, cx).map(Ok)
    }
}

/// Reads and forgets until the client is done, too long, or too loud.
pub struct Farewell {
    timer: Pin<Box<Sleep>>,
    left: usize,
}

impl Farewell {
    pub fn new() -> Self {
        Self { timer: Box::pin(sleep(LINGER)), left: LINGER_BYTES_MAX }
    }

    pub fn poll(&mut self, stream: &mut (impl AsyncRead + Unpin), cx: &mut Context<'_>) -> Poll<()> {
        if self.timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut scratch = [0; 8192];
        while self.left > 0 {
            let mut buffer = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => self.left = self.left.saturating_sub(buffer.filled().len()),
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
        Poll::Ready(())
    }
}
