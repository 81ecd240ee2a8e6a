//! For the fuzz target of request heads: a connection without a socket, and a service that marks its responses.

use crate::connection::{Builders, ConnectionState, HeadLimits, RequestReader};
use gateway_config::HttpConfig;
use http::header::CONNECTION;
use http::{HeaderName, HeaderValue, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;

const MARK: HeaderName = HeaderName::from_static("x-mark");
/// Generous: all bytes are there from the start.
const LIMIT: Duration = Duration::from_secs(20);

/// Bytes that arrive in parts, then the end of the stream.
struct PartialReader {
    bytes: Vec<u8>,
    at: usize,
    part_bytes: usize,
}

struct TestIo {
    parts: PartialReader,
    request_reader: RequestReader,
    state: Arc<ConnectionState>,
    written: Arc<parking_lot::Mutex<Vec<u8>>>,
}

/// The number of responses to these bytes, or None if one of them is hyper's own or the connection does not end.
pub async fn count_responses(bytes: &[u8], part_bytes: usize) -> Option<usize> {
    let settings = HttpConfig::default();
    let state = Arc::new(ConnectionState::new());
    let written = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let io = TestIo {
        parts: PartialReader { bytes: bytes.to_vec(), at: 0, part_bytes },
        request_reader: RequestReader::new(HeadLimits::new(&settings)),
        state: Arc::clone(&state),
        written: Arc::clone(&written),
    };
    let count = AtomicU64::new(0);
    let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let is_refused = state.head_error(count.fetch_add(1, Relaxed)).is_some();
        async move {
            // The handler responds to an invalid body.
            let _ = request.into_body().collect().await;
            let mut response = Response::new(Full::new(bytes::Bytes::from_static(b"answer")));
            response.headers_mut().insert(MARK, HeaderValue::from_static("1"));
            if is_refused {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let builders = Builders::new(&settings);
    // How it ends is no matter.
    if bytes.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
        let _ = timeout(LIMIT, builders.http2.serve_connection(TokioIo::new(io), service)).await.ok()?;
        // HTTP/2 has its own ways to refuse.
        return Some(0);
    }
    let _ = timeout(LIMIT, builders.http1.serve_connection(TokioIo::new(io), service)).await.ok()?;
    let written = std::mem::take(&mut *written.lock());
    count_marked(&written)
}

fn count_marked(mut written: &[u8]) -> Option<usize> {
    let mut count = 0;
    while !written.is_empty() {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut head = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(end) = head.parse(written).ok()? else { return None };
        written = &written[end..];
        if head.code == Some(100) {
            continue;
        }
        head.headers.iter().find(|header| header.name == MARK.as_str())?;
        // The response to HEAD has no body.
        written = written.strip_prefix(b"answer").unwrap_or(written);
        count += 1;
    }
    Some(count)
}

impl AsyncRead for PartialReader {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let rest = &this.bytes[this.at..];
        let length = rest.len().min(this.part_bytes).min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        this.at += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for TestIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.request_reader.poll_read(&mut this.parts, &this.state, cx, buffer)
    }
}

impl AsyncWrite for TestIo {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.written.lock().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
