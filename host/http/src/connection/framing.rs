//! Tracks the messages on an HTTP/1 connection from head to body to head, so that every head is checked before hyper
//! sees it, and the watchdog knows whether a request is still arriving. Rule: hyper alone decides what belongs to a
//! request; an error here about the end of a body could only refuse a request or end a connection.

use super::chunked_state::ChunkedState;
use super::head_error::HeadError;
use super::request_head::{BodyLength, HeadCheck, check_head};
use gateway_config::HttpConfig;

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadLimits {
    bytes_max: usize,
    http2: bool,
}

impl HeadLimits {
    pub(crate) fn new(config: &HttpConfig) -> Self {
        Self { bytes_max: config.header_bytes_max, http2: config.http2 }
    }

    /// For a connection that may, or may not, be one of HTTP/2.
    pub(crate) fn for_http2(self, may_be_http2: bool) -> Self {
        Self { http2: self.http2 && may_be_http2, ..self }
    }
}

/// What the next bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// A head. Its first `checked` bytes were parsed and are incomplete.
    Head {
        checked: usize,
    },
    Sized {
        remaining: u64,
    },
    Chunked(ChunkedState),
    /// Not tracked: HTTP/2, or bytes after a request that ends the connection.
    Untracked,
}

#[derive(Debug)]
pub(crate) struct Framing {
    limits: HeadLimits,
    next: Next,
    /// A head has started and not ended.
    in_head: bool,
    is_http2: bool,
    complete_heads: u64,
    head_error: Option<(u64, HeadError)>,
}

impl Framing {
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self {
            limits,
            next: Next::Head { checked: 0 },
            in_head: false,
            is_http2: false,
            complete_heads: 0,
            head_error: None,
        }
    }

    /// Returns how many of these bytes hyper may see. The rest is an incomplete head, which the caller passes again
    /// together with the bytes that follow it, or starts with a head that is refused.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut position = 0;
        while position < bytes.len() {
            let rest = &bytes[position..];
            position += match &mut self.next {
                Next::Head { checked } => {
                    let unchecked = &rest[(*checked).min(rest.len())..];
                    match self.head_length(rest, unchecked) {
                        Some(length) => length,
                        None => return position,
                    }
                }
                Next::Sized { remaining } => {
                    let length = usize::try_from(*remaining).unwrap_or(usize::MAX).min(rest.len());
                    *remaining -= length as u64;
                    if *remaining == 0 {
                        self.next = Next::Head { checked: 0 };
                    }
                    length
                }
                Next::Chunked(state) => {
                    let length = state.advance(rest);
                    match state {
                        ChunkedState::End => self.next = Next::Head { checked: 0 },
                        ChunkedState::Invalid => self.next = Next::Untracked,
                        _ => {}
                    }
                    length
                }
                Next::Untracked => rest.len(),
            };
        }
        position
    }

    /// Refuses the head that is expected or arriving.
    pub(crate) fn refuse(&mut self, error: HeadError) {
        self.head_error = Some((self.complete_heads, error));
        self.stop_tracking();
    }

    pub(crate) fn complete_heads(&self) -> u64 {
        self.complete_heads
    }

    pub(crate) fn in_head(&self) -> bool {
        self.in_head
    }

    /// The preface of HTTP/2 has arrived, and is allowed.
    pub(crate) fn is_http2(&self) -> bool {
        self.is_http2
    }

    /// The client has not yet sent the whole body.
    pub(crate) fn in_body(&self) -> bool {
        matches!(self.next, Next::Sized { .. } | Next::Chunked(_))
    }

    /// The refused request, counted from 0. No request follows it.
    pub(crate) fn head_error(&self) -> Option<(u64, HeadError)> {
        self.head_error
    }

    /// The length of the head at the start of `bytes`, or None if it is incomplete or refused.
    fn head_length(&mut self, bytes: &[u8], unchecked: &[u8]) -> Option<usize> {
        if self.complete_heads == 0 && starts_http2_preface(bytes) {
            return self.http2_preface(bytes);
        }
        // Bytes without the end of a line cannot complete a head, so they are not parsed. The first bytes always are:
        // input that is not HTTP is refused at once.
        let may_complete = unchecked.len() == bytes.len() || unchecked.contains(&b'\n');
        let check = if may_complete || bytes.len() >= self.limits.bytes_max {
            check_head(bytes, self.limits.bytes_max)
        } else {
            HeadCheck::Incomplete
        };
        match check {
            HeadCheck::Valid(head) => {
                self.complete_heads += 1;
                self.in_head = false;
                self.next = match head.body {
                    BodyLength::Known(0) => Next::Head { checked: 0 },
                    BodyLength::Known(remaining) => Next::Sized { remaining },
                    BodyLength::Chunked => Next::Chunked(ChunkedState::Start),
                };
                Some(head.bytes)
            }
            HeadCheck::Incomplete => {
                self.await_rest(bytes);
                None
            }
            HeadCheck::Refused(error) => {
                self.refuse(error);
                None
            }
        }
    }

    fn http2_preface(&mut self, bytes: &[u8]) -> Option<usize> {
        if bytes.len() < HTTP2_PREFACE.len() {
            self.await_rest(bytes);
            None
        } else if self.limits.http2 {
            self.is_http2 = true;
            self.stop_tracking();
            Some(bytes.len())
        } else {
            self.refuse(HeadError::Http2Disabled);
            None
        }
    }

    fn await_rest(&mut self, bytes: &[u8]) {
        // Empty lines may come before a request and are not part of it.
        self.in_head = !bytes.trim_ascii_start().is_empty();
        self.next = Next::Head { checked: bytes.len() };
    }

    fn stop_tracking(&mut self) {
        self.complete_heads += 1;
        self.in_head = false;
        self.next = Next::Untracked;
    }
}

/// Whether `bytes` are the preface, or as much of it as has arrived.
pub(super) fn starts_http2_preface(bytes: &[u8]) -> bool {
    let length = bytes.len().min(HTTP2_PREFACE.len());
    bytes[..length] == HTTP2_PREFACE[..length]
}
