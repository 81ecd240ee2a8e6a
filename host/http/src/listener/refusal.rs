//! The response to a connection above a limit. Without it, a client or a load balancer would take a silent wait in the
//! kernel's queue for an outage. Rule: a refusal reads no request, and the number of concurrent refusals is bounded;
//! above that bound connections are dropped without a response.

use super::connection_limits::LimitReached;
use crate::connection::LingeringClose;
use crate::raw_response::raw_response;
use plugin_api::response::Problem;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const CONCURRENT_MAX: usize = 64;
/// How long a client may take to read the response: short, because it holds a permit that the next refusal may need.
const LINGER: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct RefusalLimit {
    permits: Arc<Semaphore>,
}

impl RefusalLimit {
    pub(crate) fn new() -> Self {
        Self { permits: Arc::new(Semaphore::new(CONCURRENT_MAX)) }
    }

    pub(crate) fn try_acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }
}

pub(crate) async fn refuse_connection(mut stream: TcpStream, limit: LimitReached, permit: OwnedSemaphorePermit) {
    // A write fails if the client has left; then nothing more can be done.
    if stream.write_all(response(limit).as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        let mut lingering_close = LingeringClose::new(LINGER);
        poll_fn(|cx| lingering_close.poll(&mut stream, cx)).await;
    }
    drop(permit);
}

fn response(limit: LimitReached) -> String {
    let (message, hint) = match limit {
        LimitReached::Total => ("the gateway has no connection left", "connect again after the seconds in Retry-After"),
        LimitReached::Address => ("too many connections from your address", "keep connections open and use them again"),
    };
    let problem = Problem::new(503, "too_many_connections", message).hint(hint);
    raw_response(&problem, "retry-after: 5\r\n")
}
