//! How deep plugins call each other, by contributions and services: a circle of calls would overflow the stack.

const DEPTH_MAX: u32 = 4;

tokio::task_local! {
    static DEPTH: u32;
}

/// The depth of a call that is about to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallDepth(u32);

impl CallDepth {
    /// One deeper than the caller; `None` when that is too deep.
    pub(crate) fn enter() -> Option<Self> {
        let depth = DEPTH.try_with(|depth| depth + 1).unwrap_or_default();
        (depth < DEPTH_MAX).then_some(Self(depth))
    }

    /// Runs the call: what it calls in turn is deeper.
    pub(crate) async fn scope<F: Future>(self, call: F) -> F::Output {
        DEPTH.scope(self.0, call).await
    }
}
