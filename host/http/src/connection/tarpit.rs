//! The pause before a refusal. Rule: a request that is refused because there are too many, or because it is not HTTP,
//! costs its client a pause; a client that repeats refused requests without pause would delay others.

use crate::body::Body;
use futures_util::future::BoxFuture;
use http::Response;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::sleep;

/// Response extension: this response has to wait.
#[derive(Clone, Copy, Debug)]
pub struct Tarpit;

pin_project! {
    /// Delays a response that carries a [`Tarpit`].
    pub struct TarpitFuture<F> {
        #[pin]
        inner: F,
        pause: Duration,
        delayed: Option<BoxFuture<'static, Response<Body>>>,
    }
}

impl<F> TarpitFuture<F> {
    pub(crate) fn new(inner: F, pause: Duration) -> Self {
        Self { inner, pause, delayed: None }
    }
}

impl<E, F: Future<Output = Result<Response<Body>, E>>> Future for TarpitFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.delayed.is_none() {
            let mut response = ready!(this.inner.poll(cx))?;
            if response.extensions_mut().remove::<Tarpit>().is_none() || this.pause.is_zero() {
                return Poll::Ready(Ok(response));
            }
            let pause = *this.pause;
            *this.delayed = Some(Box::pin(async move {
                sleep(pause).await;
                response
            }));
        }
        this.delayed.as_mut().map_or(Poll::Pending, |delayed| delayed.as_mut().poll(cx).map(Ok))
    }
}
