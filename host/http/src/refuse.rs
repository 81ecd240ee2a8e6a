//! Connections above a cap. They are told so: a silent wait in the kernel's queue would look like an outage to a client and
//! to a load balancer. Rule: a refusal reads nothing of the request, and the number of refusals under way is bounded; above
//! it connections are dropped without a word.

use super::request_id::RequestId;
use super::slots::Full;
use super::socket::Farewell;
use plugin_api::Problem;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const REFUSALS_MAX: usize = 64;
/// For a client to read why: short, because it keeps a place that the next one may need.
const LINGER: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub struct Refusals {
    places: Arc<Semaphore>,
}

impl Refusals {
    pub fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(REFUSALS_MAX)) }
    }

    pub fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}

pub async fn refuse(mut stream: TcpStream, full: Full, place: OwnedSemaphorePermit) {
    // The client may be gone; then there is nobody to tell.
    if stream.write_all(answer(full).as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        let mut farewell = Farewell::new(LINGER);
        poll_fn(|cx| farewell.poll(&mut stream, cx)).await;
    }
    drop(place);
}

fn answer(full: Full) -> String {
    let (message, hint) = match full {
        Full::Total => ("the gateway has no connection left", "connect again after the seconds in Retry-After"),
        Full::Address => ("too many connections from your address", "keep connections open and use them again"),
    };
    let problem = Problem::new(503, "too_many_connections", message).hint(hint);
    let body = serde_json::to_string(&problem).unwrap_or_default();
    let id = RequestId::generate();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: 5\r\n\
         access-control-allow-origin: *\r\nx-content-type-options: nosniff\r\nx-request-id: {}\r\nconnection: close\r\n\r\n{body}",
        body.len(),
        id.0,
    )
}
