//! How hyper is configured for HTTP/1.1, and for HTTP/2 by prior knowledge. Rule: every buffer and every list that a client
//! can make grow has a bound.

use gateway_config::HttpConfig;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::time::Duration;

/// hyper accepts no smaller buffer.
const HEADER_BYTES_MIN: usize = 8192;
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(20);
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(10);
/// Streams that a client opened and reset before the gateway handled them ("rapid reset").
const HTTP2_PENDING_RESETS_MAX: usize = 20;
/// Streams that a client made the gateway reset ("made you reset").
const HTTP2_LOCAL_RESETS_MAX: usize = 256;
/// Bytes that a client may send before the handler reads them, per stream and per connection.
const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// Bytes buffered for a client that reads slowly, per stream.
const HTTP2_SEND_BUFFER_BYTES: usize = 128 * 1024;

/// One for each version; the first bytes of a connection decide.
pub(crate) struct Builders {
    pub http1: http1::Builder,
    pub http2: http2::Builder<TokioExecutor>,
}

impl Builders {
    pub(crate) fn new(settings: &HttpConfig) -> Self {
        let header_bytes_max = settings.header_bytes_max.max(HEADER_BYTES_MIN);
        Self { http1: http1_builder(header_bytes_max), http2: http2_builder(header_bytes_max, settings) }
    }
}

fn http1_builder(header_bytes_max: usize) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // The connection's own watchdog does this, see `connection_state`.
        .header_read_timeout(None)
        .max_buf_size(header_bytes_max);
    builder
}

fn http2_builder(header_bytes_max: usize, settings: &HttpConfig) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(header_bytes_max).unwrap_or(u32::MAX))
        .max_concurrent_streams(settings.http2_concurrent_streams_max)
        .max_pending_accept_reset_streams(HTTP2_PENDING_RESETS_MAX)
        .max_local_error_reset_streams(HTTP2_LOCAL_RESETS_MAX)
        .initial_stream_window_size(HTTP2_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(HTTP2_SEND_BUFFER_BYTES)
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIMEOUT);
    builder
}
