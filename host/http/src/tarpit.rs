//! Refusals that take their time. Rule: what is refused because there is too much of it, or because it is no request at all,
//! costs the client a pause; a client that repeats at once what is refused at once would keep the gateway from serving others.
//!
//! Requests wait for their refusal. Where there is no request, because somebody broke the rules of HTTP/2, the next
//! connections from that address wait.

use super::slots::owner;
use crate::body::Body;
use futures_util::future::BoxFuture;
use http::Response;
use parking_lot::Mutex;
use pin_project_lite::pin_project;
use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

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

/// Above this many addresses, those whose time is over are forgotten.
const TIDY_ABOVE: usize = 256;

/// Addresses whose new connections wait, and until when.
#[derive(Debug, Default)]
pub struct Penalties(Mutex<HashMap<IpAddr, Instant>>);

impl Penalties {
    pub fn impose(&self, ip: IpAddr, pause: Duration) {
        let now = Instant::now();
        let mut until = self.0.lock();
        if until.len() > TIDY_ABOVE {
            until.retain(|_, until| *until > now);
        }
        until.insert(owner(ip), now + pause);
    }

    pub async fn sit_out(&self, ip: IpAddr) {
        let until = self.0.lock().get(&owner(ip)).copied();
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }
}
