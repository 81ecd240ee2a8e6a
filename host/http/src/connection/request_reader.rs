//! Passes the bytes of a client to hyper. Rule: hyper gets a head only when it is complete and valid. A refused head is
//! replaced by a placeholder without headers, which becomes a request that carries its [`HeadError`]; so the refusal is
//! answered, logged and counted like every other response, and no bytes after it are read as a request.

use super::connection_state::ConnectionState;
use super::framing::{Framing, HeadLimits};
use super::head_error::HeadError;
use super::request_head::placeholder_head;
use bytes::{Buf, BytesMut};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// Bytes per read while a head is incomplete.
const READ_BYTES: usize = 4096;

pub(crate) struct RequestReader {
    framing: Framing,
    /// Read from the socket, and not yet passed to hyper.
    pending: BytesMut,
    /// The first so many bytes of `pending` may be passed to hyper.
    checked: usize,
}

impl RequestReader {
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self { framing: Framing::new(limits), pending: BytesMut::new(), checked: 0 }
    }

    /// The client has started a request that it has not sent completely.
    pub(crate) fn is_request_incomplete(&self) -> bool {
        self.framing.in_head() || self.framing.in_body() || self.framing.head_error().is_some()
    }

    /// hyper can be given something without a read.
    pub(super) fn has_checked(&self) -> bool {
        self.checked > 0
    }

    pub(super) fn is_http2(&self) -> bool {
        self.framing.is_http2()
    }

    /// Bytes that hyper was given and has not used.
    pub(super) fn put_back(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let later = std::mem::replace(&mut self.pending, BytesMut::with_capacity(bytes.len()));
        self.pending.extend_from_slice(bytes);
        self.pending.extend_from_slice(&later);
        self.checked += bytes.len();
    }

    /// Reads until a whole head, or its refusal, can be passed to hyper; false when the client has closed its side.
    pub(super) fn poll_head<S: AsyncRead + Unpin>(
        &mut self,
        source: &mut S,
        state: &ConnectionState,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<bool>> {
        loop {
            if self.has_checked() {
                return Poll::Ready(Ok(true));
            }
            if self.framing.head_error().is_some() {
                return Poll::Pending;
            }
            if !ready!(self.poll_pending(source, state, cx))? {
                return Poll::Ready(Ok(false));
            }
        }
    }

    pub(crate) fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        source: &mut S,
        state: &ConnectionState,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.checked > 0 {
                self.pass_checked(buffer);
                return Poll::Ready(Ok(()));
            }
            if self.framing.head_error().is_some() {
                // The connection ends with the response; until then nothing is read from the client.
                return Poll::Pending;
            }
            if self.pending.is_empty() {
                if ready!(self.poll_read_direct(source, state, cx, buffer))? {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            if !ready!(self.poll_pending(source, state, cx))? {
                // The client sent only empty lines.
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Adds to an incomplete head. Returns false if the client has closed its side and is owed no response.
    fn poll_pending<S: AsyncRead + Unpin>(
        &mut self,
        source: &mut S,
        state: &ConnectionState,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<bool>> {
        if state.head_timed_out() {
            self.refuse(HeadError::Timeout);
        } else if ready!(self.poll_read_pending(source, cx))? {
            self.checked = self.framing.advance(&self.pending);
            self.replace_refused_head();
        } else if self.framing.in_head() {
            self.refuse(HeadError::Incomplete);
        } else {
            return Poll::Ready(Ok(false));
        }
        state.update(&self.framing);
        Poll::Ready(Ok(true))
    }

    /// The usual case, without a copy: the bytes that arrive are a whole request, or belong to a body. Returns false if
    /// hyper gets none of them.
    fn poll_read_direct<S: AsyncRead + Unpin>(
        &mut self,
        source: &mut S,
        state: &ConnectionState,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<bool>> {
        let start = buffer.filled().len();
        ready!(Pin::new(source).poll_read(cx, buffer))?;
        let received = &buffer.filled()[start..];
        if received.is_empty() {
            return Poll::Ready(Ok(true));
        }
        let passed = self.framing.advance(received);
        if passed < received.len() {
            self.pending.extend_from_slice(&received[passed..]);
            buffer.set_filled(start + passed);
            self.replace_refused_head();
        }
        state.update(&self.framing);
        Poll::Ready(Ok(passed > 0))
    }

    /// Returns false if the client has closed its side.
    fn poll_read_pending<S: AsyncRead + Unpin>(
        &mut self,
        source: &mut S,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<bool>> {
        let mut part = [const { MaybeUninit::uninit() }; READ_BYTES];
        let mut part = ReadBuf::uninit(&mut part);
        ready!(Pin::new(source).poll_read(cx, &mut part))?;
        self.pending.extend_from_slice(part.filled());
        Poll::Ready(Ok(!part.filled().is_empty()))
    }

    fn refuse(&mut self, error: HeadError) {
        self.framing.refuse(error);
        self.replace_refused_head();
    }

    fn replace_refused_head(&mut self) {
        if self.framing.head_error().is_none() {
            return;
        }
        let placeholder = placeholder_head(&self.pending[self.checked..]);
        self.pending.truncate(self.checked);
        self.pending.extend_from_slice(&placeholder);
        self.checked = self.pending.len();
    }

    fn pass_checked(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.checked.min(buffer.remaining());
        buffer.put_slice(&self.pending[..length]);
        self.pending.advance(length);
        self.checked -= length;
        if self.pending.is_empty() {
            // An idle connection keeps no memory.
            self.pending = BytesMut::new();
        }
    }
}
