//! A future of the gateway that a plugin polls.

use super::thread_slot::HostFrame;
use std::{future::poll_fn, pin::pin};

/// Polls `work` as the gateway's own code: a slow disk is not the plugin's fault.
pub(crate) async fn in_host<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let _host = HostFrame::enter();
        work.as_mut().poll(context)
    })
    .await
}
