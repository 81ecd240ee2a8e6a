//! Futures and streams of a plugin, polled and dropped within its bounds.

use super::{
    operation_registry::OperationNumber,
    poll_gate::{Admission, GateClosed, PollGate, Ticket},
};
use std::{
    ops::Deref,
    pin::Pin,
    task::{Context, Poll},
};

/// A value whose code is a plugin's. `G` borrows or shares the plugin's gate.
pub struct PluginValue<T: Send + 'static, G: Deref<Target = PollGate>> {
    value: Option<T>,
    gate: G,
    operation: OperationNumber,
    ticket: Ticket,
}

impl<T: Send + 'static, G: Deref<Target = PollGate>> PluginValue<T, G> {
    pub fn new(gate: G, operation: OperationNumber, value: T) -> Self {
        Self { value: Some(value), gate, operation, ticket: Ticket::default() }
    }

    const fn empty(gate: G, operation: OperationNumber) -> Self {
        Self { value: None, gate, operation, ticket: Ticket::NONE }
    }

    /// Runs `poll` when there is room for one more poll of the plugin.
    pub fn poll_with<R>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut Option<T>, &mut Context<'_>) -> Poll<R>,
    ) -> Poll<Result<R, GateClosed>> {
        match self.gate.admit(self.operation, &mut self.ticket, context.waker()) {
            Admission::Entered(_entered) => poll(&mut self.value, context).map(Ok),
            Admission::Waits => Poll::Pending,
            Admission::Closed => Poll::Ready(Err(GateClosed)),
        }
    }
}

/// A drop is code of the plugin, too, and cannot wait.
impl<T: Send + 'static, G: Deref<Target = PollGate>> Drop for PluginValue<T, G> {
    fn drop(&mut self) {
        self.gate.cancel(&mut self.ticket);
        let Some(value) = self.value.take() else { return };
        let entered = if self.gate.is_closed() { None } else { self.gate.try_enter(self.operation) };
        match entered {
            Some(_entered) => drop(value),
            None => self.gate.reaper.drop_later(self.operation, value),
        }
    }
}

/// One call of a plugin: `begin` makes its future, which is code of the plugin as well.
pub struct PluginCall<M, F: Send + 'static, G: Deref<Target = PollGate>> {
    begin: Option<M>,
    future: PluginValue<F, G>,
}

impl<M: FnOnce() -> F, F: Future + Send + Unpin + 'static, G: Deref<Target = PollGate>> PluginCall<M, F, G> {
    pub const fn new(gate: G, operation: OperationNumber, begin: M) -> Self {
        Self { begin: Some(begin), future: PluginValue::empty(gate, operation) }
    }
}

/// `begin` is called by value and never pinned.
impl<M, F: Send + Unpin + 'static, G: Deref<Target = PollGate> + Unpin> Unpin for PluginCall<M, F, G> {}

impl<M, F, G> Future for PluginCall<M, F, G>
where
    M: FnOnce() -> F,
    F: Future + Send + Unpin + 'static,
    G: Deref<Target = PollGate> + Unpin,
{
    type Output = Result<F::Output, GateClosed>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { begin, future } = self.get_mut();
        future.poll_with(context, |slot, context| {
            if let Some(begin) = begin.take() {
                *slot = Some(begin());
            }
            // Polled after its end: nothing will ever come.
            let Some(future) = slot else { return Poll::Pending };
            let output = Pin::new(future).poll(context);
            if output.is_ready() {
                *slot = None;
            }
            output
        })
    }
}
