//! How much one connection reads before other tasks run. Rule: a client that sends without pause gets some bytes per
//! scheduling turn; then other tasks run and the sockets are polled before it continues.
//!
//! tokio's cooperative budget counts reads, whatever each read brings and however much work it causes: a thousand small
//! HTTP/2 frames are one read. So a read here also pays for its bytes.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    task::coop,
};

/// What one unit of the budget pays for. With the 128 units that tokio gives, a task reads 16 KiB per turn.
const BYTES_PER_UNIT: usize = 128;

/// Makes each read pay for its bytes out of tokio's budget.
pub(crate) struct ReadBudget<R>(pub R);

impl<R: AsyncRead + Unpin> AsyncRead for ReadBudget<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let start = buffer.filled().len();
        // Without budget, tokio's sockets return Pending until the next turn.
        ready!(Pin::new(&mut self.get_mut().0).poll_read(cx, buffer))?;
        spend((buffer.filled().len() - start) / BYTES_PER_UNIT, cx);
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

    /// Fills every buffer, and pays one unit per read as tokio's sockets do.
    struct EndlessReader;

    impl AsyncRead for EndlessReader {
        fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            let unit = ready!(coop::poll_proceed(cx));
            buffer.put_slice(&[0; 1024][..buffer.remaining().min(1024)]);
            unit.made_progress();
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn other_tasks_run_after_some_kilobytes() {
        let read = Cell::new(0);
        let read_per_turn = Cell::new(None);
        let reader = async {
            let mut client = ReadBudget(EndlessReader);
            let mut part = [0; 1024];
            while read.get() < 1024 * 1024 {
                read.set(read.get() + client.read(&mut part).await.unwrap());
            }
        };
        let other = async {
            tokio::task::yield_now().await;
            read_per_turn.set(Some(read.get()));
        };
        tokio::join!(reader, other);
        assert_eq!(read.get(), 1024 * 1024);
        let turn = read_per_turn.get().unwrap();
        assert!((1024..=32 * 1024).contains(&turn), "{turn}");
    }
}
