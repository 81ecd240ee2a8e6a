//! Refusals that take their time. Rule: what is refused because there is too much of it, or because it is no request at all,
//! costs the client a pause; a client that repeats at once what is refused at once would keep the gateway from serving others.

use crate::http::body::Body;
use futures_util::future::BoxFuture;
use http::Response;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::sleep;

/// Stands among the extensions of an answer that has to wait.
#[derive(Clone, Copy, Debug)]
pub struct Tarpit;

pin_project! {
    pub struct Tarpitted<F> {
        #[pin]
        inner: F,
        pause: Duration,
        waiting: Option<BoxFuture<'static, Response<Body>>>,
    }
}

impl<F> Tarpitted<F> {
    pub fn new(inner: F, pause: Duration) -> Self {
        Self { inner, pause, waiting: None }
    }
}

impl<E, F: Future<Output = Result<Response<Body>, E>>> Future for Tarpitted<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.waiting.is_none() {
            let mut response = ready!(this.inner.poll(cx))?;
            if response.extensions_mut().remove::<Tarpit>().is_none() || this.pause.is_zero() {
                return Poll::Ready(Ok(response));
            }
            let pause = *this.pause;
            *this.waiting = Some(Box::pin(async move {
                sleep(pause).await;
                response
            }));
        }
        this.waiting.as_mut().map_or(Poll::Pending, |waiting| waiting.as_mut().poll(cx).map(Ok))
    }
}
