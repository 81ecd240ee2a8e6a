//! A future in which a plugin calls others.

use super::{poll_gate::PollGate, thread_slot::CallerFrame};
use std::{future::poll_fn, pin::pin, sync::Arc};

/// Polls `work`, in which the plugin of this gate calls others. A thread that one of them does not give back is lost to that one:
/// the caller may run another poll.
pub(crate) async fn in_other_plugins<T>(caller: Arc<PollGate>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let _caller = CallerFrame::enter(caller.clone());
        work.as_mut().poll(context)
    })
    .await
}
