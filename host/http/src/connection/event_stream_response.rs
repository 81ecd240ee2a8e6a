//! A response of events on HTTP/1.1 that the connection sends by itself. Rule: what is sent is what hyper would have sent:
//! head, chunks, and the last chunk, which is missing when the stream broke off.
//!
//! hyper keeps two buffers of 8 KiB for a connection, and the future of the request: far more than a reader needs, who
//! waits for hours.

use super::handover::Handover;
use super::socket::Socket;
use super::tracked_body::TrackedBody;
use super::transport::Transport;
use bytes::{Buf as _, Bytes};
use gateway_activity::chunk;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, TRANSFER_ENCODING};
use http::response::Parts;
use http_body::Body as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, UNIX_EPOCH};
use tokio::io::AsyncWrite as _;

const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

pub(super) struct EventStreamResponse {
    body: TrackedBody,
    /// The rest of the head, or of a chunk.
    unsent: Bytes,
    has_ended: bool,
    keep_alive: bool,
}

impl EventStreamResponse {
    pub(super) fn new(handover: Handover) -> Self {
        let Handover { response, keep_alive } = handover;
        let (head, body) = response.into_parts();
        Self { body, unsent: render_head(&head, keep_alive), has_ended: false, keep_alive }
    }

    pub(super) fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// Ready when the whole response is on its way.
    pub(super) fn poll<T: Transport>(&mut self, socket: &mut Socket<T>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if socket.poll_closed(cx)?.is_ready() {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        loop {
            while !self.unsent.is_empty() {
                let written = ready!(Pin::new(&mut *socket).poll_write(cx, &self.unsent))?;
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.unsent.advance(written);
            }
            self.unsent = Bytes::new();
            ready!(Pin::new(&mut *socket).poll_flush(cx))?;
            if self.has_ended {
                return Poll::Ready(Ok(()));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)).transpose()? {
                None => {
                    self.has_ended = true;
                    self.unsent = Bytes::from_static(LAST_CHUNK);
                }
                // An empty chunk would end the response.
                Some(frame) => {
                    if let Some(bytes) = frame.data_ref().filter(|bytes| !bytes.is_empty()) {
                        self.unsent = chunk(bytes);
                    }
                }
            }
        }
    }
}

fn render_head(head: &Parts, keep_alive: bool) -> Bytes {
    let mut text = Vec::with_capacity(512);
    let reason = head.status.canonical_reason().unwrap_or_default();
    text.extend_from_slice(format!("HTTP/1.1 {} {reason}\r\n", head.status.as_str()).as_bytes());
    for (name, value) in &head.headers {
        if ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
            push_header(&mut text, name.as_str(), value.as_bytes());
        }
    }
    if !head.headers.contains_key(DATE) {
        push_header(&mut text, DATE.as_str(), http_date().as_bytes());
    }
    push_header(&mut text, TRANSFER_ENCODING.as_str(), b"chunked");
    if !keep_alive {
        push_header(&mut text, CONNECTION.as_str(), b"close");
    }
    text.extend_from_slice(b"\r\n");
    text.into()
}

fn push_header(text: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        text.extend_from_slice(part);
    }
}

fn http_date() -> String {
    let since_epoch = Duration::from_secs(gateway_clock::Clock::System.now_s().try_into().unwrap_or_default());
    httpdate::fmt_http_date(UNIX_EPOCH + since_epoch)
}
