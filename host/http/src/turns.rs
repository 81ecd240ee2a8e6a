//! Connections by turns. Rule: a client that sends without end has a turn of some bytes and some requests; then it is others'
//! turn, and the sockets are looked at, before it goes on.
//!
//! tokio counts reads, however much each brings and however much work is in it: a thousand small HTTP/2 frames are one. So
//! a read costs of tokio's budget what it brings. And it takes up tasks in the order in which they were spawned: a hundred
//! requests that come at once on one HTTP/2 connection would all be before the next one of somebody else. So few of them are
//! begun at a time.

use pin_project_lite::pin_project;
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::coop,
};
use tokio_util::sync::PollSemaphore;

/// What one unit of the budget pays for. Of 128 units, which is what tokio gives, a turn is 16 KiB.
const BYTES_PER_UNIT: usize = 128;
/// Requests of one HTTP/2 connection that are begun at a time. One that has begun and waits counts no more.
const BEGUN_MAX: usize = 8;

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

/// The requests of one connection that wait to be begun.
pub struct Queue(Arc<Semaphore>);

impl Queue {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(BEGUN_MAX)))
    }

    pub fn begin<F>(&self, inner: F) -> Begun<F> {
        let place = Place { queue: PollSemaphore::new(Arc::clone(&self.0)), permit: None, has_waited: false };
        Begun { inner, place: Some(place) }
    }
}

struct Place {
    queue: PollSemaphore,
    permit: Option<OwnedSemaphorePermit>,
    /// So that others were polled since it was spawned.
    has_waited: bool,
}

impl Place {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.permit.is_none() {
            let asked = self.queue.poll_acquire(cx);
            let has_waited = std::mem::replace(&mut self.has_waited, true);
            self.permit = ready!(asked);
            if !has_waited {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}

pin_project! {
    /// A request that waits for its place in the queue, and gives it back when it is polled for the first time.
    pub struct Begun<F> {
        #[pin]
        inner: F,
        place: Option<Place>,
    }
}

impl<F> Begun<F> {
    /// Of a connection that has one request at a time.
    pub fn at_once(inner: F) -> Self {
        Self { inner, place: None }
    }
}

impl<F: Future> Future for Begun<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if let Some(place) = this.place {
            ready!(place.poll(cx));
        }
        let _given_back = this.place.take();
        this.inner.poll(cx)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::{
        cell::{Cell, RefCell},
        rc::Rc,
    };
    use tokio::{io::AsyncReadExt as _, task::LocalSet};

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

    #[tokio::test]
    async fn requests_that_come_together_leave_room_between_them() {
        let queue = Queue::new();
        let begun: Rc<RefCell<Vec<&str>>> = Rc::default();
        let note = |who: &'static str| {
            let begun = Rc::clone(&begun);
            async move { begun.borrow_mut().push(who) }
        };
        let tasks = LocalSet::new();
        for _ in 0..100 {
            tasks.spawn_local(queue.begin(note("many")));
        }
        tasks.spawn_local(Begun::at_once(note("other")));
        tasks.await;
        let begun = begun.borrow();
        assert_eq!(begun.len(), 101, "all are begun");
        let before = begun.iter().take_while(|who| **who == "many").count();
        assert!(before <= BEGUN_MAX, "{before} of them came first");
    }
}
