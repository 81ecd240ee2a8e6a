//! Where plugins' code runs on the serving threads: how much of it at a time, since when, and what if it does not return.
//!
//! The rule: at most [`polls_max`] polls of one plugin run at a time, and there is one serving thread more. A poll publishes its
//! operation for the watchdog without a lock, an allocation or a look at the clock.

mod detached;
mod in_host;
mod in_other_plugins;
mod lost_threads;
mod operation_registry;
mod plugin_value;
mod poll_gate;
mod process_time;
mod reaper;
mod thread_slot;
mod watchdog;
mod within;

pub use detached::{CallEnd, DetachedCall};
pub(crate) use in_host::in_host;
pub(crate) use in_other_plugins::in_other_plugins;
pub use lost_threads::{detached_threads_lost, threads_lost};
pub use operation_registry::OperationNumber;
pub(crate) use operation_registry::{BACKGROUND_TASK, HungPollObserver, operation_name, register};
pub use plugin_value::{PluginCall, PluginValue};
pub use poll_gate::{GateClosed, PollGate};
pub use process_time::ProcessInstant;
pub use thread_slot::UnwatchedFrame;
pub(crate) use thread_slot::{HostFrame, current_operation};
pub(crate) use watchdog::THREAD_LIMIT;
pub use watchdog::{ThreadWatchdog, has_spare_threads, running_operations, set_spare_threads};
pub use within::within;

use std::{num::NonZeroUsize, sync::LazyLock, thread};

/// How many polls of one plugin run at the same time: one for each processor. The runtime that serves has a thread more.
pub fn polls_max() -> usize {
    static PROCESSORS: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    *PROCESSORS
}
