//! The bytes of a client on their way to hyper. Rule: hyper gets a head only when all of it is there and good. In place of
//! one that is refused it gets a stand-in without headers, which comes out as a request that knows its violation; so the
//! refusal is answered, logged and counted like every other answer, and nothing behind it is read as a request.

use super::framing::{Bounds, Framing};
use super::request_head::stand_in;
use super::violation::Violation;
use super::vitals::Vitals;
use bytes::{Buf, BytesMut};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// Read at a time while a head is incomplete.
const PART_BYTES: usize = 4096;

pub struct Incoming {
    framing: Framing,
    /// Read, and not yet given to hyper.
    held: BytesMut,
    /// As many of them may be.
    cleared: usize,
}

impl Incoming {
    pub fn new(bounds: Bounds) -> Self {
        Self { framing: Framing::new(bounds), held: BytesMut::new(), cleared: 0 }
    }

    /// The client has begun a request that it has not sent in full.
    pub fn is_interrupted(&self) -> bool {
        self.framing.in_head() || self.framing.in_body() || self.framing.violation().is_some()
    }

    pub fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        source: &mut S,
        vitals: &Vitals,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.cleared > 0 {
                self.hand_over(buffer);
                return Poll::Ready(Ok(()));
            }
            if self.framing.violation().is_some() {
                // The connection ends with the answer; until then the client has nothing to say.
                return Poll::Pending;
            }
            if self.held.is_empty() {
                if ready!(self.pass(source, vitals, cx, buffer))? {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            if vitals.head_is_given_up() {
                self.refuse(Violation::TooSlow);
            } else if ready!(self.poll_more(source, cx))? {
                self.cleared = self.framing.follow(&self.held);
                self.replace_refused();
            } else if self.framing.in_head() {
                self.refuse(Violation::Unfinished);
            } else {
                // Nothing but empty lines.
                return Poll::Ready(Ok(()));
            }
            vitals.observe(&self.framing);
        }
    }

    /// The usual case, without a copy: what arrives is a whole request, or belongs to a body. False: hyper gets none of it.
    fn pass<S: AsyncRead + Unpin>(
        &mut self,
        source: &mut S,
        vitals: &Vitals,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<bool>> {
        let before = buffer.filled().len();
        ready!(Pin::new(source).poll_read(cx, buffer))?;
        let fresh = &buffer.filled()[before..];
        if fresh.is_empty() {
            return Poll::Ready(Ok(true));
        }
        let passed = self.framing.follow(fresh);
        if passed < fresh.len() {
            self.held.extend_from_slice(&fresh[passed..]);
            buffer.set_filled(before + passed);
            self.replace_refused();
        }
        vitals.observe(&self.framing);
        Poll::Ready(Ok(passed > 0))
    }

    /// False: the client has closed its side.
    fn poll_more<S: AsyncRead + Unpin>(&mut self, source: &mut S, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let mut part = [const { MaybeUninit::uninit() }; PART_BYTES];
        let mut part = ReadBuf::uninit(&mut part);
        ready!(Pin::new(source).poll_read(cx, &mut part))?;
        self.held.extend_from_slice(part.filled());
        Poll::Ready(Ok(!part.filled().is_empty()))
    }

    fn refuse(&mut self, violation: Violation) {
        self.framing.refuse(violation);
        self.replace_refused();
    }

    fn replace_refused(&mut self) {
        if self.framing.violation().is_none() {
            return;
        }
        let stand_in = stand_in(&self.held[self.cleared..]);
        self.held.truncate(self.cleared);
        self.held.extend_from_slice(&stand_in);
        self.cleared = self.held.len();
    }

    fn hand_over(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.cleared.min(buffer.remaining());
        buffer.put_slice(&self.held[..length]);
        self.held.advance(length);
        self.cleared -= length;
        if self.held.is_empty() {
            // A connection at rest holds no memory.
            self.held = BytesMut::new();
        }
    }
}
