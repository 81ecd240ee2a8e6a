//! Code of a plugin that may block on its way down: each call has a thread of its own, and a time limit.

use gateway_plugins::{
    PluginHandle,
    polls::{CallEnd, DetachedCall},
};
use std::time::Duration;

/// What the work returned; `None` when it did not in time, which is a fault of the plugin in this operation, and its thread counts as lost.
pub(crate) async fn run_on_own_thread<T: Send + 'static>(
    handle: &PluginHandle,
    operation: &str,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let plugin = &*handle.name;
    let call = match DetachedCall::start(plugin, work) {
        Ok(call) => call,
        Err(error) => {
            tracing::error!(plugin, operation, %error, "no thread can be started for it");
            return None;
        }
    };
    match call.wait(limit).await {
        Some(CallEnd::Returned(value)) => return Some(value),
        Some(CallEnd::Panicked) => tracing::error!(plugin, operation, "it ended badly: the log says where"),
        None => handle.timed_out(operation, limit),
    }
    None
}

/// Drops a plugin, or its object. The last drop runs code of the plugin.
pub(crate) async fn drop_on_own_thread(handle: &PluginHandle, limit: Duration, value: impl Send + 'static) {
    run_on_own_thread(handle, "drop", limit, move || drop(value)).await;
}
