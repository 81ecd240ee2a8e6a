//! What the closure of a write does not reach.
//!
//! The rule: a write may run again, so while its closure is polled the plugin's handle of the gateway refuses what would then happen
//! twice, or hold up other writers: everything but reads of the database, the time and the log.

use crate::abi::{HostError, HostErrorCode};
use std::{cell::Cell, future::poll_fn, pin::pin};

thread_local! {
    /// Whether the closure of a write is polled on this thread now.
    static IN_WRITE: Cell<bool> = const { Cell::new(false) };
}

/// The time of one poll of the closure. When it is dropped, by a panic too, the thread is what it was.
struct WriteScope {
    was_in_write: bool,
}

impl WriteScope {
    fn enter() -> Self {
        Self { was_in_write: IN_WRITE.replace(true) }
    }
}

impl Drop for WriteScope {
    fn drop(&mut self) {
        IN_WRITE.set(self.was_in_write);
    }
}

/// Polls the closure of a write. What is joined with it elsewhere is not within it.
pub(crate) async fn in_write<T>(closure: impl Future<Output = T>) -> T {
    let mut closure = pin!(closure);
    poll_fn(|context| {
        let _scope = WriteScope::enter();
        closure.as_mut().poll(context)
    })
    .await
}

/// # Errors
///
/// [`HostErrorCode::Refused`] within the closure of a write.
pub(crate) fn check_outside(what: &str) -> Result<(), HostError> {
    if !IN_WRITE.get() {
        return Ok(());
    }
    let message = format!(
        "{what} within a write, whose closure may run again: do it before the write and move the result into the closure, or after it"
    );
    Err(HostError::new(HostErrorCode::Refused, message))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::{
        mem,
        panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
        task::{Context, Poll, Waker},
    };

    /// Waits once.
    async fn pause() {
        let mut has_waited = false;
        poll_fn(|_| if mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    #[test]
    fn only_the_polls_of_the_closure_are_within_the_write() {
        let write = in_write(async {
            pause().await;
            in_write(async {}).await;
            check_outside("fetch").unwrap_err().message.into_string()
        });
        let (mut write, mut context) = (pin!(write), Context::from_waker(Waker::noop()));
        assert!(write.as_mut().poll(&mut context).is_pending());
        check_outside("fetch").unwrap();
        let Poll::Ready(message) = write.poll(&mut context) else { unreachable!("it waits once") };
        assert!(message.starts_with("fetch within a write, "), "{message}");
    }

    #[test]
    fn a_panic_ends_the_write() {
        let mut write = pin!(in_write(async { resume_unwind(Box::new("by a test")) }));
        let poll = || write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        catch_unwind(AssertUnwindSafe(poll)).unwrap_err();
        check_outside("fetch").unwrap();
    }
}
