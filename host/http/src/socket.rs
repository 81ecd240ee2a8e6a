//! The socket as hyper sees it. Rule: what hyper writes passes unchanged and is watched, and the end is a gentle one.

use super::direct_writer::DirectWriter;
use super::framing::Bounds;
use super::incoming::Incoming;
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
const LINGER: Duration = Duration::from_secs(10);

pub struct Socket {
    read: Turns<OwnedReadHalf>,
    direct_writer: Arc<DirectWriter>,
    incoming: Incoming,
    vitals: Arc<Vitals>,
    farewell: Option<Farewell>,
}

impl Socket {
    pub fn new(stream: TcpStream, bounds: Bounds, vitals: Arc<Vitals>) -> Self {
        let (read, write) = stream.into_split();
        let direct_writer = DirectWriter::new(write, Arc::clone(&vitals));
        Self { read: Turns(read), direct_writer, incoming: Incoming::new(bounds), vitals, farewell: None }
    }

    pub fn direct_writer(&self) -> &Arc<DirectWriter> {
        &self.direct_writer
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
        self.direct_writer.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.direct_writer.poll_write_vectored(cx, slices)
    }

    /// As every TCP socket.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.direct_writer.poll_flush(cx)
    }

    /// Closing a socket with unread bytes resets it, and the reset can overtake the answer (a 413, say) on its way to a
    /// client that is still sending. So what it sends is read and forgotten for a moment.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.farewell.is_none() {
            ready!(this.direct_writer.poll_shutdown(cx))?;
            if !this.incoming.is_interrupted() {
                return Poll::Ready(Ok(()));
            }
        }
        let farewell = this.farewell.get_or_insert_with(|| Farewell::new(LINGER));
        farewell.poll(&mut this.read, cx).map(Ok)
    }
}

/// Reads and forgets until the client is done, too long, or too loud.
pub struct Farewell {
    timer: Pin<Box<Sleep>>,
    left: usize,
}

impl Farewell {
    pub fn new(limit: Duration) -> Self {
        Self { timer: Box::pin(sleep(limit)), left: LINGER_BYTES_MAX }
    }

    pub fn poll(&mut self, stream: &mut (impl AsyncRead + Unpin), cx: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 8192];
        while self.left > 0 {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut *stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.left = self.left.saturating_sub(buffer.filled().len());
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.timer.as_mut().poll(cx),
            }
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A process that was not let run for a while is not the client's fault.
    #[tokio::test]
    async fn what_came_in_time_is_read_even_when_the_time_is_over() {
        let (mut client, mut server) = tokio::io::duplex(64 * 1024);
        client.write_all(&[b'x'; 20_000]).await.unwrap();
        let mut farewell = Farewell::new(Duration::ZERO);
        poll_fn(|cx| farewell.poll(&mut server, cx)).await;
        client.write_all(b"later").await.unwrap();
        drop(client);
        let mut rest = String::new();
        server.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "later");
    }

    #[tokio::test]
    async fn a_loud_client_is_left_before_its_time_is_over() {
        let mut endless = tokio::io::repeat(b'x');
        let mut farewell = Farewell::new(Duration::from_secs(3600));
        poll_fn(|cx| farewell.poll(&mut endless, cx)).await;
    }
}
