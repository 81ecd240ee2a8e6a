//! A time limit for work that is mostly ready at once.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

/// The output of `work`, or `None` when it exceeds the limit. Work that is ready at once needs no timer.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => tokio::time::timeout(limit, work).await.ok(),
    }
}
