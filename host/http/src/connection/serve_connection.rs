//! The life of one connection. Rule: the connection ends by itself, by its watchdog, or by the gateway's stop; in each
//! case a running request is finished if time allows.

use super::close_reason::{CloseReason, WatchdogVerdict};
use super::connection_settings::ConnectionSettings;
use super::connection_state::ConnectionState;
use super::http_connection::HttpConnection;
use super::request_service::RequestService;
use super::socket::Socket;
use super::timeouts::Timeouts;
use super::transport::{MakeTransport, NewTransport, Transport as _};
use crate::http_service::HttpService;
use futures_util::FutureExt;
use futures_util::future::{Fuse, FusedFuture};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long an idle connection may take to close when its file descriptor is needed.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a connection may take to close after the watchdog's verdict.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// `_permit` is dropped when the connection is gone.
pub(crate) async fn serve_connection<S: HttpService, M: MakeTransport>(
    stream: TcpStream,
    peer: IpAddr,
    transport_maker: M,
    service: S,
    settings: Arc<ConnectionSettings>,
    stop: CancellationToken,
    _permit: impl Send,
) {
    let state = Arc::new(ConnectionState::new());
    let open = settings.open_connections.insert(Arc::clone(&state));
    let new_transport = tokio::select! {
        new = transport_maker.make_transport(stream, peer, &settings, &state) => new,
        () = stop.cancelled() => return,
        () = open.close_requested() => return,
    };
    let Some(NewTransport { transport, may_be_http2 }) = new_transport else { return };
    state.await_first_head();
    let sink = transport.http1_sink();
    let socket = Socket::new(transport, settings.head_limits.for_http2(may_be_http2), Arc::clone(&state));
    let requests = RequestService::new(service, peer, sink, Arc::clone(&state), &settings);
    let mut connection = HttpConnection::new(socket, requests, Arc::clone(&settings.builders));
    let mut watchdog = pin!(check_later(&state, settings.timeouts));
    // A request whose head is arriving counts as running, although hyper does not know it yet.
    let mut stopped = pin!(async {
        stop.cancelled().await;
        state.wait_for_head_end().await;
    });
    let mut released = pin!(open.close_requested());
    let mut close_timer = pin!(Fuse::terminated());
    let mut closing = false;
    loop {
        tokio::select! {
            biased;
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%peer, error = &*error as &dyn std::error::Error, "a connection ended with an error");
                    if is_http2_violation(&*error) {
                        settings.penalties.add(peer, settings.tarpit);
                    }
                }
                return;
            }
            () = stopped.as_mut(), if !closing => {
                closing = true;
                connection.graceful_shutdown();
            }
            () = released.as_mut(), if !closing => {
                tracing::debug!(%peer, "an idle connection is closed: its file descriptor is needed");
                closing = true;
                connection.graceful_shutdown();
                close_timer.set(sleep(RELEASE_TIMEOUT).fuse());
            }
            verdict = watchdog.as_mut(), if close_timer.is_terminated() => {
                let Some(cut) = verdict else {
                    connection.release_buffers();
                    watchdog.set(check_later(&state, settings.timeouts));
                    continue;
                };
                tracing::debug!(%peer, ?cut, "a connection is cut");
                match cut {
                    // The next poll of the connection responds with 408.
                    CloseReason::SlowHead if state.head_started() => state.time_out_head(),
                    CloseReason::SlowHead | CloseReason::SlowReader => return,
                    // An idle HTTP/2 client gets a GOAWAY, so that it does not lose a request that it sends now.
                    CloseReason::Idle => {
                        closing = true;
                        connection.graceful_shutdown();
                    }
                }
                close_timer.set(sleep(CLOSE_TIMEOUT).fuse());
            }
            () = close_timer.as_mut(), if !close_timer.is_terminated() => return,
        }
    }
}

/// Whether the client broke the rules of HTTP/2, rather than closed the connection.
fn is_http2_violation(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.downcast_ref::<h2::Error>().is_some_and(h2::Error::is_library))
}

/// Returns when the connection has to close, or to be checked again.
async fn check_later(state: &ConnectionState, timeouts: Timeouts) -> Option<CloseReason> {
    match state.verdict(timeouts) {
        WatchdogVerdict::Close(reason) => Some(reason),
        WatchdogVerdict::CheckAgainAt(at) => {
            sleep_until(at).await;
            None
        }
    }
}
