//! The end of a connection whose client is still sending. Rule: bytes that have arrived are read before the time is
//! checked, so that a gateway that was not scheduled for a while does not reset the connection.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::{Sleep, sleep};

const BYTES_MAX: usize = 4 * 1024 * 1024;

/// Reads and discards until the client closes its side, the time is over, or the client has sent too much.
pub(crate) struct LingeringClose {
    timer: Pin<Box<Sleep>>,
    remaining_bytes: usize,
}

impl LingeringClose {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { timer: Box::pin(sleep(limit)), remaining_bytes: BYTES_MAX }
    }

    pub(crate) fn poll(&mut self, stream: &mut (impl AsyncRead + Unpin), cx: &mut Context<'_>) -> Poll<()> {
        let mut discarded = [0; 8192];
        while self.remaining_bytes > 0 {
            let mut buffer = ReadBuf::new(&mut discarded);
            match Pin::new(&mut *stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.remaining_bytes = self.remaining_bytes.saturating_sub(buffer.filled().len());
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

    /// The client is not at fault if the gateway's process was not scheduled for a while.
    #[tokio::test]
    async fn bytes_that_arrived_are_read_even_when_the_time_is_over() {
        let (mut client, mut server) = tokio::io::duplex(64 * 1024);
        client.write_all(&[b'x'; 20_000]).await.unwrap();
        let mut lingering_close = LingeringClose::new(Duration::ZERO);
        poll_fn(|cx| lingering_close.poll(&mut server, cx)).await;
        client.write_all(b"later").await.unwrap();
        drop(client);
        let mut rest = String::new();
        server.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "later");
    }

    #[tokio::test]
    async fn a_client_that_sends_too_much_is_closed_before_the_time_is_over() {
        let mut endless = tokio::io::repeat(b'x');
        let mut lingering_close = LingeringClose::new(Duration::from_secs(3600));
        poll_fn(|cx| lingering_close.poll(&mut endless, cx)).await;
    }
}
