//! Direct writes to a reader's connection that bypass its task.
//!
//! An event goes to thousands of readers at once. A chunk with the same bytes for all of them is handed to their
//! sockets one after the other, which costs less than waking a task for each.

use bytes::Bytes;
use std::sync::{Arc, atomic::AtomicU64};

/// The outcome of a direct write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The socket took the whole chunk.
    Complete,
    /// The socket took a part; the connection's task sends the rest when it is woken.
    Partial,
    /// Something else is being written; nothing was taken.
    Busy,
}

/// A connection that takes chunks directly, implemented by the HTTP server.
pub trait Sink: Send + Sync {
    /// Writes a chunk, as far as the socket takes it at once.
    fn send(&self, chunk: &Bytes) -> WriteOutcome;

    /// The connection's task is about to get something to write: until it has flushed that, direct writes are refused.
    fn leave_to_task(&self);

    /// Whether the rest of a [`WriteOutcome::Partial`] chunk is still to be sent; the connection's task is woken
    /// afterwards.
    fn has_unsent(&self) -> bool;
}

/// Response extension: the number of bytes of a body that were written directly.
#[derive(Clone, Debug, Default)]
pub struct BypassBytes(pub Arc<AtomicU64>);
