//! The panic fence: it turns a panic in a plugin into a [`Fault`] before the panic reaches the gateway.
//!
//! The rule: every call by the gateway, every poll and every drop of the plugin's values runs inside [`contain`]. A panic
//! that crosses the ABI aborts the process.

use crate::abi::{Fault, FaultKind};
use abi_stable::std_types::{RResult, RString};
use pin_project_lite::pin_project;
use std::{
    any::Any,
    cell::{Cell, RefCell},
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::OnceLock,
    task::{Context, Poll},
};

thread_local! {
    static CONTAIN_DEPTH: Cell<u32> = const { Cell::new(0) };
    static PANIC_LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a panic hook that stores the location of a contained panic instead of printing it.
/// A plugin's library links its own standard library, and therefore has its own hook.
pub(crate) fn install_hook() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if CONTAIN_DEPTH.with(Cell::get) == 0 {
                return previous(info);
            }
            let location = info.location().map(ToString::to_string);
            PANIC_LOCATION.with(|slot| *slot.borrow_mut() = location);
        }));
    });
}

/// Runs `work`; a panic in it becomes a fault.
pub(crate) fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    CONTAIN_DEPTH.with(|depth| depth.set(depth.get() + 1));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let fault = outcome.map_err(|payload| Fault {
        kind: FaultKind::Panic,
        message: message_of(payload).into(),
        location: PANIC_LOCATION.with(|slot| slot.borrow_mut().take()).unwrap_or_default().into(),
    });
    CONTAIN_DEPTH.with(|depth| depth.set(depth.get() - 1));
    fault
}

fn message_of(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_owned(),
    };
    // Dropping the payload may panic with a second payload, whose drop may panic again: the second one is leaked.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    message
}

pub(crate) fn error_fault(message: impl std::fmt::Display) -> Fault {
    Fault { kind: FaultKind::Error, message: message.to_string().into(), location: RString::new() }
}

/// A value whose drop is contained; `report` receives a panic in it.
pub(crate) struct ContainedDrop<T, R: Fn(Fault)> {
    value: Option<T>,
    report: R,
}

impl<T, R: Fn(Fault)> ContainedDrop<T, R> {
    pub(crate) fn new(value: T, report: R) -> Self {
        Self { value: Some(value), report }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.value.as_mut()
    }

    fn release(&mut self) -> Result<(), Fault> {
        let value = self.value.take();
        contain(|| drop(value))
    }
}

impl<T, R: Fn(Fault)> Drop for ContainedDrop<T, R> {
    fn drop(&mut self) {
        if let Err(fault) = self.release() {
            (self.report)(fault);
        }
    }
}

pin_project! {
    /// A future whose polls and drop are contained. It ends with a fault when it panics.
    pub(crate) struct ContainedFuture<F, R: Fn(Fault)> {
        #[pin]
        future: Option<F>,
        report: R,
    }

    impl<F, R: Fn(Fault)> PinnedDrop for ContainedFuture<F, R> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if let Err(fault) = contain(|| this.future.set(None)) {
                (this.report)(fault);
            }
        }
    }
}

impl<F: Future, R: Fn(Fault)> ContainedFuture<F, R> {
    pub(crate) fn new(future: F, report: R) -> Self {
        Self { future: Some(future), report }
    }
}

impl<T, F: Future<Output = Result<T, Fault>>, R: Fn(Fault)> Future for ContainedFuture<F, R> {
    type Output = RResult<T, Fault>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.project().future;
        let Some(future) = slot.as_mut().as_pin_mut() else {
            return Poll::Ready(RResult::RErr(error_fault("polled after it had ended")));
        };
        let output = match contain(|| future.poll(context)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => output,
            Err(fault) => Err(fault),
        };
        // The future is dropped here, so that a panic in its drop becomes the output.
        let released = contain(|| slot.set(None));
        Poll::Ready(output.and_then(|value| released.map(|()| value)).into())
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::disallowed_methods, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_fault_with_its_location() {
        install_hook();
        let fault = contain(|| {
            if true {
                panic!("boom");
            }
        });
        let Err(fault) = fault else { return assert!(fault.is_err()) };
        assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Panic, "boom"));
        assert!(fault.location.contains("fence.rs"), "{fault:?}");
    }

    #[test]
    fn a_payload_that_panics_in_its_drop_is_contained() {
        struct Evil;
        impl Drop for Evil {
            fn drop(&mut self) {
                std::panic::panic_any(Self);
            }
        }
        install_hook();
        assert!(contain(|| std::panic::panic_any(Evil)).is_err());
    }
}
