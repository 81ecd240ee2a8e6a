//! How many requests of one HTTP/2 connection start at a time. Rule: requests that arrive together do not all start
//! before the next request of another connection.
//!
//! tokio runs tasks in the order in which they were spawned: a hundred requests that arrive at once on one HTTP/2
//! connection would all run before the next request of another client. So only a few of them start at a time.

use pin_project_lite::pin_project;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;

/// Requests of one HTTP/2 connection that start at a time. A request that has started and waits no longer counts.
const STARTING_MAX: usize = 8;

pub(crate) struct StartLimiter(Arc<Semaphore>);

impl StartLimiter {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(STARTING_MAX)))
    }

    pub(crate) fn limit<F>(&self, inner: F) -> LimitedStart<F> {
        let permit =
            StartPermit { semaphore: PollSemaphore::new(Arc::clone(&self.0)), permit: None, has_yielded: false };
        LimitedStart { inner, permit: Some(permit) }
    }
}

struct StartPermit {
    semaphore: PollSemaphore,
    permit: Option<OwnedSemaphorePermit>,
    /// Other tasks were polled since this one was spawned.
    has_yielded: bool,
}

impl StartPermit {
    fn poll_acquire(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.permit.is_none() {
            let acquired = self.semaphore.poll_acquire(cx);
            let has_yielded = std::mem::replace(&mut self.has_yielded, true);
            self.permit = ready!(acquired);
            if !has_yielded {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}

pin_project! {
    /// A request that waits for its permit to start, and returns the permit when it is polled for the first time.
    pub struct LimitedStart<F> {
        #[pin]
        inner: F,
        permit: Option<StartPermit>,
    }
}

impl<F> LimitedStart<F> {
    /// For HTTP/1, which has one request at a time.
    pub(crate) fn unlimited(inner: F) -> Self {
        Self { inner, permit: None }
    }
}

impl<F: Future> Future for LimitedStart<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if let Some(permit) = this.permit {
            ready!(permit.poll_acquire(cx));
        }
        // Returned only after this poll.
        let _permit = this.permit.take();
        this.inner.poll(cx)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::{cell::RefCell, rc::Rc};
    use tokio::task::LocalSet;

    #[tokio::test]
    async fn another_connection_starts_between_requests_that_arrive_together() {
        let limiter = StartLimiter::new();
        let started: Rc<RefCell<Vec<&str>>> = Rc::default();
        let record = |connection: &'static str| {
            let started = Rc::clone(&started);
            async move { started.borrow_mut().push(connection) }
        };
        let tasks = LocalSet::new();
        for _ in 0..100 {
            tasks.spawn_local(limiter.limit(record("many")));
        }
        tasks.spawn_local(LimitedStart::unlimited(record("other")));
        tasks.await;
        let started = started.borrow();
        assert_eq!(started.len(), 101, "all have started");
        let before = started.iter().take_while(|connection| **connection == "many").count();
        assert!(before <= STARTING_MAX, "{before} of them came first");
    }
}
