//! One connection to the operator's listener. Rule: it ends when nothing happens on it, so that connections that nobody uses
//! take no place of the operator.

use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    time::timeout,
};

/// Time for a request head, and for the next one on a connection of HTTP/1.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Time without a running request after which the connection is closed.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to say goodbye.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves until the client leaves or nothing happens for `idle_timeout`.
pub(crate) async fn serve<F>(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    respond: impl Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    idle_timeout: Duration,
) where
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let (running, mut changes) = watch::channel(0_usize);
    let running = Arc::new(running);
    let service = hyper::service::service_fn(move |request| {
        let (guard, response) = (RunningGuard::new(&running), respond(request));
        async move {
            let _guard = guard;
            Ok::<_, Infallible>(response.await)
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(socket), service));
    tokio::select! {
        // A client that disconnects early is not an error.
        _ = connection.as_mut() => return,
        () = idle(&mut changes, idle_timeout) => connection.as_mut().graceful_shutdown(),
    }
    let _ = timeout(CLOSE_TIMEOUT, connection).await;
}

/// Counts a request until it is answered, or its client is gone.
struct RunningGuard(Arc<watch::Sender<usize>>);

impl RunningGuard {
    fn new(running: &Arc<watch::Sender<usize>>) -> Self {
        running.send_modify(|count| *count += 1);
        Self(running.clone())
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Returns when no request has run for so long.
async fn idle(changes: &mut watch::Receiver<usize>, limit: Duration) {
    loop {
        let is_idle = *changes.borrow_and_update() == 0;
        let changed = match is_idle {
            true => timeout(limit, changes.changed()).await,
            false => Ok(changes.changed().await),
        };
        if !matches!(changed, Ok(Ok(()))) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
    use super::*;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
        time::{Instant, sleep},
    };

    const IDLE: Duration = Duration::from_millis(200);
    const LIMIT: Duration = Duration::from_secs(30);
    /// The preface of HTTP/2 and empty settings.
    const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

    /// A client of a connection whose requests take so long.
    fn connect(work: Duration) -> DuplexStream {
        let (client, server) = duplex(4096);
        let respond = move |_| async move {
            sleep(work).await;
            Response::new(Full::from("done"))
        };
        tokio::spawn(serve(server, respond, IDLE));
        client
    }

    /// How long the gateway keeps it open, and what it sent.
    async fn closed_after(mut client: DuplexStream) -> (Duration, String) {
        let (started, mut sent) = (Instant::now(), Vec::new());
        let closed = timeout(LIMIT, client.read_to_end(&mut sent)).await;
        closed.expect("it is never closed").unwrap();
        (started.elapsed(), String::from_utf8_lossy(&sent).into_owned())
    }

    #[tokio::test]
    async fn a_connection_without_requests_is_closed() {
        let (after, _) = closed_after(connect(Duration::ZERO)).await;
        assert!(after >= IDLE, "{after:?}");
    }

    #[tokio::test]
    async fn so_is_one_of_http2_that_only_says_hello() {
        let mut client = connect(Duration::ZERO);
        client.write_all(HTTP2).await.unwrap();
        let (after, _) = closed_after(client).await;
        assert!(after >= IDLE, "{after:?}");
    }

    #[tokio::test]
    async fn a_request_may_take_its_time() {
        let mut client = connect(IDLE * 4);
        client.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let (after, sent) = closed_after(client).await;
        assert!(sent.starts_with("HTTP/1.1 200") && sent.ends_with("done"), "{sent}");
        assert!(after >= IDLE * 5, "{after:?}");
    }
}
