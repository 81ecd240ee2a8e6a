//! Reading by turns. Rule: a client that sends without end has a turn of some bytes; then it is others' turn, and the
//! sockets are looked at, before it goes on.
//!
//! tokio counts reads, however much each brings and however much work is in it: a thousand small HTTP/2 frames are one. So
//! a read costs of tokio's budget what it brings.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    task::coop,
};

/// What one unit of the budget pays for. Of 128 units, which is what tokio gives, a turn is 16 KiB.
const BYTES_PER_UNIT: usize = 128;

pub struct Turns<R>(pub R);

impl<R: AsyncRead + Unpin> AsyncRead for Turns<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        // Waits for the next turn by itself when nothing is left of this one.
        ready!(Pin::new(&mut self.get_mut().0).poll_read(cx, buffer))?;
        spend((buffer.filled().len() - before) / BYTES_PER_UNIT, cx);
        Poll::Ready(Ok(()))
    }
}

fn spend(units: usize, cx: &mut Context<'_>) {
    for _ in 0..units {
        if !coop::has_budget_remaining() {
            return;
        }
        if let Poll::Ready(unit) = coop::poll_proceed(cx) {
            unit.made_progress();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::cell::Cell;
    use tokio::io::AsyncReadExt as _;

    /// Sends as much as is taken, and counts in its own right what tokio's sockets do.
    struct Endless;

    impl AsyncRead for Endless {
        fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            let unit = ready!(coop::poll_proceed(cx));
            buffer.put_slice(&[0; 1024][..buffer.remaining().min(1024)]);
            unit.made_progress();
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn others_have_their_turn_after_some_kilobytes() {
        let read = Cell::new(0);
        let read_in_a_turn = Cell::new(None);
        let reader = async {
            let mut client = Turns(Endless);
            let mut part = [0; 1024];
            while read.get() < 1024 * 1024 {
                read.set(read.get() + client.read(&mut part).await.unwrap());
            }
        };
        let other = async {
            tokio::task::yield_now().await;
            read_in_a_turn.set(Some(read.get()));
        };
        tokio::join!(reader, other);
        assert_eq!(read.get(), 1024 * 1024);
        let turn = read_in_a_turn.get().unwrap();
        assert!((1024..=32 * 1024).contains(&turn), "{turn}");
    }
}
